/* Between two groups, nothing is in place: data goes to the other side. */
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
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  int steps = mine, all = 0;
  MPI_Allreduce(&steps, &all, 1, MPI_INT, MPI_MAX, both);
  MPI_Allreduce(&steps, &all, 1, MPI_INT, MPI_SUM, both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&group);
  MPI_Finalize();
  return 0;
}
