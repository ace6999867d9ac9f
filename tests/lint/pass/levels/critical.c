// Under `critical` all threads call MPI, one at a time.
#include <mpi.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
#pragma omp critical
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#pragma omp critical(named) hint(0)
    value++;
  }
  MPI_Finalize();
  return 0;
}
