// MPI is initialised for a program of one thread, and called by the first of several.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, value, sum = 0;
  MPI_Init(&argc, &argv); //~ CS-THR-01 operation
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  value = rank + 1;
  #pragma omp parallel num_threads(2)
  {
    #pragma omp atomic
    value += 1;
    #pragma omp barrier
    #pragma omp master
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); //~ CS-THR-01 access
  }
  MPI_Finalize();
  return sum == 7 ? 0 : 1;
}
