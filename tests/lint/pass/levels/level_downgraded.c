// A program that asks for all, and does with less.
#include <mpi.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
#pragma omp parallel
  {
    if (provided == MPI_THREAD_MULTIPLE) {
      MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (provided == MPI_THREAD_SERIALIZED) {
#pragma omp critical
      MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
#pragma omp master
      MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
