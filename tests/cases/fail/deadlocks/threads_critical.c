// A thread of each rank waits for a message in a critical section, which another thread must enter
// to send one.
//# np: 2
//# cc: gcc
//# flags: -fopenmp
//# options: --stuck-after 1
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
  int rank, provided, is_in = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
  {
    int value = rank, seen = 0;
    if (omp_get_thread_num() == 0) {
#pragma omp critical
      {
#pragma omp atomic write
        is_in = 1;
        MPI_Recv(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
      }
    } else {
      while (!seen) {
#pragma omp atomic read
        seen = is_in;
      }
#pragma omp critical
      MPI_Send(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
