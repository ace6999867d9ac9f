// MPI says which thread is the main one.
#include <mpi.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#pragma omp parallel
  {
    int is_main;
    MPI_Is_thread_main(&is_main);
    if (!is_main) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-01 access
  }
  MPI_Finalize();
  return 0;
}
