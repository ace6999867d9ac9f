/* MPI_IN_PLACE wherever the standard has it. */
//# np: 3
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double one = rank, *all = calloc(size, sizeof *all), *part = all + rank;
  int *counts = malloc(size * sizeof *counts), *displs = malloc(size * sizeof *displs);
  MPI_Datatype *types = malloc(size * sizeof *types);
  MPI_Request request;
  for (int i = 0; i < size; i++) {
    counts[i] = 1;
    displs[i] = i;
    types[i] = MPI_DOUBLE;
  }
  MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Iallreduce(MPI_IN_PLACE, &one, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displs, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, counts, displs, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int i = 0; i < size; i++) displs[i] = i * sizeof(double);
  MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, all, counts, displs, types, MPI_COMM_WORLD);
  for (int i = 0; i < size; i++) displs[i] = i;
  MPI_Scan(MPI_IN_PLACE, &one, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Exscan(MPI_IN_PLACE, &one, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Reduce(MPI_IN_PLACE, &one, 1, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displs, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Scatter(all, 1, MPI_DOUBLE, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD);
    MPI_Scatterv(all, counts, displs, MPI_DOUBLE, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD);
  } else {
    /* What matters at the root alone may be anything elsewhere. */
    MPI_Reduce(&one, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
    MPI_Gather(part, 1, MPI_DOUBLE, MPI_IN_PLACE, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Gatherv(part, 1, MPI_DOUBLE, NULL, NULL, NULL, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Scatter(MPI_IN_PLACE, 1, MPI_DOUBLE, part, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Scatterv(NULL, NULL, NULL, MPI_DOUBLE, part, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  }
  free(types);
  free(displs);
  free(counts);
  free(all);
  MPI_Finalize();
  return 0;
}
