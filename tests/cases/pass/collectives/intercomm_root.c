/* Nobody says to be the root: both groups name a rank of the other one. */
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
  int steps = viewer ? 0 : 42;
  int root = viewer ? 0 : mine == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Bcast(&steps, 1, MPI_INT, root, both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&group);
  MPI_Finalize();
  return 0;
}
