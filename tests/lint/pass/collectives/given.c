/* Roots and reductions that are the same on all ranks, or roots of intercommunicators. */
#include <mpi.h>
#include <stdio.h>

static int data[8], sums[8];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, root = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Bcast(data, 8, MPI_INT, size - 1, MPI_COMM_WORLD);
  if (rank == 0)
    root = size / 2;
  MPI_Bcast(&root, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Reduce(data, sums, 8, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  MPI_Op reduction = MPI_SUM;
  if (size > 2)
    reduction = MPI_MAX;
  MPI_Allreduce(data, sums, 8, MPI_INT, reduction, MPI_COMM_WORLD);
  MPI_Comm half, both;
  int side = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
  MPI_Reduce(data, sums, 8, MPI_INT, side ? MPI_SUM : MPI_MAX, side, half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &both);
  int first;
  MPI_Comm_rank(half, &first);
  int to = side ? 0 : first == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Bcast(data, 8, MPI_INT, to, both);
  printf("%d\n", sums[0]);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
  MPI_Finalize();
}
