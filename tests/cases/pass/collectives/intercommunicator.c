// Between two groups, the root passes MPI_ROOT and its neighbours MPI_PROC_NULL; counts may differ
// where the groups send each other different amounts.
//# np: 4
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half, between, all;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 3, &between);
  if (rank == 2) value = 9;
  if (rank % 2 == 0) {
    MPI_Bcast(&value, 1, MPI_INT, rank == 2 ? MPI_ROOT : MPI_PROC_NULL, between);
  } else {
    MPI_Bcast(&value, 1, MPI_INT, 1, between);
    if (value != 9) return 1;
  }
  int mine[2] = {rank, rank}, theirs[4];
  if (rank % 2 == 0) {
    MPI_Allgather(mine, 2, MPI_INT, theirs, 1, MPI_INT, between);
  } else {
    MPI_Allgather(mine, 1, MPI_INT, theirs, 2, MPI_INT, between);
  }
  MPI_Barrier(between);
  MPI_Intercomm_merge(between, rank % 2, &all);
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, all);
  if (value != 27) return 1;
  MPI_Comm_free(&all);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
