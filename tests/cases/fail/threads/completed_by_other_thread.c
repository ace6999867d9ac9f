// One thread posts, the other completes; the first one reads before the other one is done.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static MPI_Request request;
static pthread_barrier_t seen;

static void *complete(void *unused) {
  pthread_barrier_wait(&seen);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return unused;
}

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int in[8], out[8] = {7}, value;
  pthread_t thread;
  pthread_barrier_init(&seen, NULL, 2);
  pthread_create(&thread, NULL, complete, NULL);

  MPI_Irecv(in, 8, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  MPI_Send(out, 8, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
  value = in[0]; //~ CS-BUF-02 access
  pthread_barrier_wait(&seen);
  pthread_join(thread, NULL);

  printf("%s\n", value == 7 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
