// A rank that is to have no part in a communicator calls another constructor.
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm mine = MPI_COMM_NULL;
  if (rank == 0) {
    MPI_Comm_split(MPI_COMM_WORLD, 1, 0, &mine); //~ CS-COL-01 operation
  } else {
    MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &mine); //~ CS-COL-01 access
  }
  if (mine != MPI_COMM_NULL) MPI_Comm_free(&mine);
  MPI_Finalize();
  return 0;
}
