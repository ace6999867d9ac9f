// `masked` lets the thread in that its filter names.
//# flags: -fopenmp-version=51
#include <mpi.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#pragma omp parallel
  {
#pragma omp masked filter(2)
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-01 access
#pragma omp masked filter(argc)
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
