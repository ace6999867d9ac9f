// After a `master` region nobody waits: another thread can be in the `single` region meanwhile.
#include <mpi.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
#pragma omp master
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
#pragma omp single
    MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD); //~ CS-THR-02 operation
  }
  MPI_Finalize();
  return 0;
}
