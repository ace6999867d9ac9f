// A task is run by any thread of the team.
#include <mpi.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#pragma omp parallel
#pragma omp master
  {
#pragma omp task
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-01 access
#pragma omp taskwait
    value++;
  }
  MPI_Finalize();
  return 0;
}
