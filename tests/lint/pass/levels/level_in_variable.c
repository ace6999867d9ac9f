// The level that the program asks for is in a variable.
#include <mpi.h>

static int value;

int main(int argc, char **argv) {
  int provided, wanted = MPI_THREAD_SERIALIZED;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
#pragma omp parallel
  {
#pragma omp single
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
