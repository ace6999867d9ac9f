/* A thread of the program uses what another one has received. */
//# flags: -pthread
//# hooks: none
//# options: --guards
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

enum { COUNT = 1 << 16 };

static int *in;

static void *sum(void *result) {
  for (int i = 0; i < COUNT; i++) *(long *)result += in[i];
  return NULL;
}

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  in = calloc(COUNT, sizeof(int));
  int *out = calloc(COUNT, sizeof(int));
  long result = 0;
  pthread_t thread;
  MPI_Request request;
  MPI_Irecv(in, COUNT, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, COUNT, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  pthread_create(&thread, NULL, sum, &result);
  pthread_join(thread, NULL);
  MPI_Finalize();
  return result != 0;
}
