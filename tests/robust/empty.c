// Touches no memory of its own.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  return MPI_Finalize();
}
