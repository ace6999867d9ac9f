// The second thread writes the send buffer after the main thread completed the send.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>

static int out[100];
static pthread_barrier_t started;

static void *update(void *unused) {
  pthread_barrier_wait(&started);
  out[42] = 1;
  return unused;
}

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int in[100];
  pthread_t thread;
  pthread_barrier_init(&started, NULL, 2);
  pthread_create(&thread, NULL, update, NULL);

  MPI_Request request;
  MPI_Isend(out, 100, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Recv(in, 100, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  pthread_barrier_wait(&started);
  pthread_join(thread, NULL);

  MPI_Finalize();
  return in[42] == 0 && out[42] == 1 ? 0 : 1;
}
