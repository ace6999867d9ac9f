// A rank waits for a message before it comes to where a group makes its communicator.
//# np: 3
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Group world, pair;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, (int[]){0, 2}, &pair);
  MPI_Comm both = MPI_COMM_NULL;
  if (rank == 2) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
  if (rank != 1) MPI_Comm_create_group(MPI_COMM_WORLD, pair, 7, &both); //~ CS-DLK-01 wait
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
  if (both != MPI_COMM_NULL) MPI_Comm_free(&both);
  MPI_Group_free(&pair);
  MPI_Group_free(&world);
  MPI_Finalize();
  return 0;
}
