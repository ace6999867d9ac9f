// A thread ends MPI that has not begun it.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided); //~ CS-THR-06 operation
  #pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    #pragma omp barrier
    if (omp_get_thread_num() == 1) {
      MPI_Finalize(); //~ CS-THR-06 access
    }
  }
  return 0;
}
