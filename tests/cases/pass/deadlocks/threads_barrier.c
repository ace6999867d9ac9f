// A thread of each rank waits for a message that another thread sends before a barrier of both,
// after a while.
//# np: 2
//# cc: gcc
//# flags: -fopenmp
//# options: --stuck-after 1
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int rank, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(3)
  {
    int value = rank;
    if (omp_get_thread_num() == 0) {
      MPI_Recv(&value, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (omp_get_thread_num() == 1) {
      sleep(3);
      MPI_Send(&value, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD);
    }
#pragma omp barrier
  }
  MPI_Finalize();
  return 0;
}
