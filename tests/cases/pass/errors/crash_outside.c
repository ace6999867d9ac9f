/* The program crashes on its own, while the other rank is in MPI. */
#include <mpi.h>
#include <stdlib.h>

__attribute__((noinline)) static void advance(int *cells, int rank) {
  __asm__("" : "+r"(cells));
  cells[0] = rank;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, cells[4];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  advance(cells, rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
