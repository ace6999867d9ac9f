// A rank waits for the end of its thread, which waits for a message that the other rank sends to
// its first thread later.
//# np: 2
//# flags: -pthread
//# options: --stuck-after 1
#include <mpi.h>
#include <pthread.h>

static void *receive(void *nothing) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait ranks=0,1
  return nothing;
}

int main(int argc, char **argv) {
  int provided, rank, value = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, receive, NULL);
    pthread_join(thread, NULL);
    MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
    MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
