// The main thread alone may call MPI, and another one does.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
  int provided, rank, sum = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided); //~ CS-THR-01 operation
  if (provided < MPI_THREAD_FUNNELED) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  #pragma omp parallel num_threads(2)
  {
    int mine = rank + 1;
    if (omp_get_thread_num() == 1) {
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); //~ CS-THR-01 access
    }
  }
  MPI_Finalize();
  return sum == 3 ? 0 : 1;
}
