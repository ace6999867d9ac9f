// MPI is initialised for several threads of which the first calls.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, value, sum = 0, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  value = rank + 1;
  #pragma omp parallel num_threads(2)
  {
    #pragma omp atomic
    value += 1;
    #pragma omp barrier
    #pragma omp master
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return sum == 7 ? 0 : 1;
}
