/* The group with the data has another root than the one that the other group names. */
//# np: 4
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, mine;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int viewer = rank >= size / 2;
  MPI_Comm group, both;
  MPI_Comm_split(MPI_COMM_WORLD, viewer, rank, &group);
  MPI_Comm_rank(group, &mine);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, viewer ? 0 : size / 2, 3, &both);
  int sum = 0, root;
  if (viewer)
    root = 0;
  else
    root = mine == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&group);
  MPI_Finalize();
  return 0;
}
