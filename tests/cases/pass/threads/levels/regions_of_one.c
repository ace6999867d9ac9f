// MPI is initialised for a program of one thread: regions that call it have but one, others
// compute.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, value, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  value = rank + 1;
  #pragma omp parallel num_threads(2)
  {
    #pragma omp atomic
    value += 1;
    #pragma omp parallel num_threads(1)
    {
      #pragma omp atomic
      value += 0;
    }
  }
  #pragma omp parallel num_threads(1)
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  #pragma omp parallel if (argc > 1000)
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return sum == 7 ? 0 : 1;
}
