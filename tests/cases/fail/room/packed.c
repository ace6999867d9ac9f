/* What is packed ends beyond the buffer. */
//# mpi: mpich
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int values[4] = {1, 2, 3, 4}, position = 56;
  char buffer[128];
  MPI_Init(&argc, &argv);
  MPI_Pack(values, 4, MPI_INT, buffer, 64, &position, MPI_COMM_WORLD); //~ CS-ARG-01 operation
  printf("%d\n", position);
  MPI_Finalize();
  return 0;
}
