// The program asks for more than it gets, and goes on as if it had it.
//# flags: -fopenmp -rdynamic
//# cc: gcc
#include <mpi.h>
#include <omp.h>

/* Stands for a library that was built without MPI_THREAD_MULTIPLE. */
int PMPI_Query_thread(int *provided) {
  *provided = MPI_THREAD_FUNNELED;
  return MPI_SUCCESS;
}

int main(int argc, char **argv) {
  int provided, value = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided); //~ CS-THR-03 operation
  PMPI_Query_thread(&provided);
  #pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-THR-03 access
    }
  }
  MPI_Finalize();
  return 0;
}
