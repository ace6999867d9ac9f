/* Communicators that are chosen alike by all ranks, or of which each has ranks of its own. */
#include <mpi.h>
#include <stdio.h>

static int data[8], sums[8];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm copy, again, first = MPI_COMM_NULL, others = MPI_COMM_NULL;
  MPI_Group all, one, rest;
  const int zero = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm chosen = copy;
  if (size == 1)
    chosen = MPI_COMM_WORLD;
  MPI_Allreduce(data, sums, 8, MPI_INT, MPI_SUM, chosen);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &again);
  if (size % 2)
    again = MPI_COMM_WORLD;
  MPI_Bcast(data, 8, MPI_INT, 0, again);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &zero, &one);
  MPI_Group_excl(all, 1, &zero, &rest);
  MPI_Comm_create(MPI_COMM_WORLD, one, &first);
  MPI_Comm_create(MPI_COMM_WORLD, rest, &others);
  MPI_Comm some = rank == 0 ? first : others;
  MPI_Barrier(some);
  printf("%d\n", sums[0]);
  MPI_Group_free(&all);
  MPI_Group_free(&one);
  MPI_Group_free(&rest);
  MPI_Finalize();
}
