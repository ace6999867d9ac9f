// Two ranks make communicators by themselves, twice with the same tag.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Group world, pair;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, (int[]){0, 2}, &pair);
  MPI_Comm both = MPI_COMM_NULL;
  for (int i = 0; i < 2; i++) {
    if (rank != 1) MPI_Comm_create_group(MPI_COMM_WORLD, pair, 7, &both);
    if (rank != 1) MPI_Barrier(both);
    if (i == 0 && rank != 1) MPI_Comm_free(&both);
  }
  if (both != MPI_COMM_NULL) MPI_Comm_free(&both);
  MPI_Group_free(&pair);
  MPI_Group_free(&world);
  MPI_Finalize();
  return 0;
}
