// Several threads run the same function.
#include <mpi.h>
#include <pthread.h>

static int in[4];

static void *receive(void *to) {
  MPI_Recv(to, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return to;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    pthread_create(&threads[i], NULL, receive, &in[i]);
    pthread_join(threads[i], NULL);
  }
  MPI_Finalize();
  return 0;
}
