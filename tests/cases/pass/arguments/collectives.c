// Collectives of which some ranks pass what does not matter there.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank, size, value = 3, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int root = size - 1, is_root = rank == root;
  int *all = is_root ? calloc(size, sizeof *all) : NULL;

  MPI_Gather(&value, 1, MPI_INT, all, is_root ? 1 : -1, MPI_INT, root, MPI_COMM_WORLD);
  MPI_Scatter(all, is_root ? 1 : -1, MPI_INT, is_root ? MPI_IN_PLACE : &value, 1, MPI_INT, root, MPI_COMM_WORLD);
  MPI_Reduce(is_root ? MPI_IN_PLACE : &value, is_root ? &value : NULL, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  MPI_Bcast(NULL, 0, MPI_INT, root, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);

  // Nothing from anybody, to nowhere in memory.
  int *zeros = calloc(size, sizeof *zeros), *nothing = NULL;
  MPI_Allgatherv(&sum, 0, MPI_INT, nothing, zeros, zeros, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallv(nothing, zeros, zeros, MPI_INT, &sum, zeros, zeros, MPI_INT, MPI_COMM_WORLD);
  MPI_Gatherv(nothing, 0, MPI_INT, nothing, is_root ? zeros : NULL, is_root ? zeros : NULL, MPI_INT, root,
              MPI_COMM_WORLD);
  MPI_Reduce_scatter(nothing, &sum, zeros, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  free(zeros);

  // Between two groups, whose roots say so.
  MPI_Comm half, inter;
  int side = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &inter);
  MPI_Bcast(&value, 1, MPI_INT, side ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
  printf("%d %d\n", value, sum);
  free(all);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
