// Threads that use communicators of their own, in whatever order; or one that uses two of them in
// another order than the other rank's.
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static MPI_Comm comms[2];
static int rank;

static void *own(void *comm) {
  const int at = *(int *)comm;
  for (int i = 0; i < 50; i++) {
    if ((at ^ rank) & 1) usleep(200);
    MPI_Barrier(comms[at]);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int provided, ids[2] = {0, 1};
  pthread_t threads[2];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);

  if (provided == MPI_THREAD_MULTIPLE && !strcmp(argv[1], "both")) {
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, own, &ids[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  } else if (provided == MPI_THREAD_MULTIPLE && !strcmp(argv[1], "main")) {
    // The initial thread of one rank uses the communicator that the other's other thread uses.
    pthread_create(&threads[0], NULL, own, &ids[1 - rank]);
    own(&ids[rank]);
    pthread_join(threads[0], NULL);
  } else if (!strcmp(argv[1], "crossing")) {
    int values[2] = {1, 1};
    for (int i = 0; i < 2; i++) MPI_Bcast(&values[rank ^ i], 1, MPI_INT, rank ^ i, comms[rank ^ i]);
  }

  for (int i = 0; i < 2; i++) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  return 0;
}
