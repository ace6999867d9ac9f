// A rank waits for the end of its thread, which takes its time before it sends what the other rank
// waits for.
//# np: 2
//# flags: -pthread
//# options: --stuck-after 1
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static void *send(void *nothing) {
  int value = 1;
  sleep(3);
  MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  return nothing;
}

int main(int argc, char **argv) {
  int provided, rank, value = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, send, NULL);
    pthread_join(thread, NULL);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
