// Of two threads the one that is not the first is the second.
#include <mpi.h>
#include <omp.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0)
      value++;
    else
      MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-01 access
  }
  MPI_Finalize();
  return 0;
}
