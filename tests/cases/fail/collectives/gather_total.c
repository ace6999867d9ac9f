// The root passes the number of all elements; recvcount is that of each rank.
//# np: 4
//# options: --stuck-after 1
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int mine[2] = {rank, rank};
  int *all = calloc((size_t)(2 * size * size), sizeof *all);
  MPI_Datatype type = rank == 0 ? MPI_INT : MPI_DATATYPE_NULL;
  MPI_Gather(mine, 2, MPI_INT, all, 2 * size, type, 0, MPI_COMM_WORLD); //~ CS-COL-04 access //~ CS-COL-04 operation
  MPI_Barrier(MPI_COMM_WORLD);
  free(all);
  MPI_Finalize();
  return 0;
}
