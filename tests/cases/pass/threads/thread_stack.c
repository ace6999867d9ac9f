// A thread completes what it sends from its own stack.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>

static MPI_Request request;
static int rank;

static void *post(void *unused) {
  int out[50];
  for (int i = 0; i < 50; i++) {
    out[i] = i;
  }
  MPI_Isend(out, 50, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return unused;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int in[50];
  pthread_t thread;
  pthread_create(&thread, NULL, post, NULL);
  pthread_join(thread, NULL);
  MPI_Recv(in, 50, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return in[49] == 49 ? 0 : 1;
}
