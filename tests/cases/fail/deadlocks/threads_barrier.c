// A thread of each rank waits for a message that another thread sends only after a barrier of both.
//# np: 2
//# cc: gcc
//# flags: -fopenmp
//# options: --stuck-after 1
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
  int rank, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
  {
    int value = rank;
    if (omp_get_thread_num() == 0) {
      MPI_Recv(&value, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
    }
#pragma omp barrier
    if (omp_get_thread_num() == 1) {
      MPI_Send(&value, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
