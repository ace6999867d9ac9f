// Buffers in place, and arguments that do not matter on ranks other than the root.
//# np: 3
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int all[6], two[2], sum = rank;
  for (int i = 0; i < 6; i++) all[i] = i / 2 == rank ? rank + 1 : 0;
  MPI_Allgather(MPI_IN_PLACE, 99, MPI_DATATYPE_NULL, all, 2, MPI_INT, MPI_COMM_WORLD);
  if (all[0] != 1 || all[5] != 3) return 1;
  if (rank == 1) {
    MPI_Scatter(all, 2, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD);
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 2, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Reduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
    if (sum != 3) return 1;
  } else {
    MPI_Scatter(NULL, 7, MPI_DATATYPE_NULL, two, 2, MPI_INT, 1, MPI_COMM_WORLD);
    if (two[1] != rank + 1) return 1;
    MPI_Gather(two, 1, MPI_2INT, NULL, 7, MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD);
    MPI_Reduce(&sum, NULL, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  }
  MPI_Alltoall(MPI_IN_PLACE, 5, MPI_DATATYPE_NULL, all, 2, MPI_INT, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
