// A rank waits for a message that another thread of the other rank sends later.
//# np: 2
//# flags: -pthread
//# options: --stuck-after 1
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static void *send_later(void *nothing) {
  int value = 5;
  sleep(3);
  MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  return nothing;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank;
  if (rank == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, send_later, NULL);
    MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
