// A cleaning thread frees the buffer after the send completed.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static void *clean(void *buffer) {
  free(buffer);
  return NULL;
}

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int in[100];
  MPI_Request incoming;
  MPI_Irecv(in, 100, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &incoming);
  int *out = calloc(100, sizeof(int));
  pthread_t thread;
  MPI_Request request;
  MPI_Isend(out, 100, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  pthread_create(&thread, NULL, clean, out);
  pthread_join(thread, NULL);
  MPI_Wait(&incoming, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return in[0] == 0 ? 0 : 1;
}
