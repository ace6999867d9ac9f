// A receive from any rank with room for one value cannot get a rank's table, which has a tag of its
// own.
//# np: 3
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 0, table[16] = {0}, wrong = 0;
  MPI_Status status;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    value = rank;
    MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  } else if (rank == 2) {
    usleep(100000);
    MPI_Send(table, 16, MPI_INT, 0, 4, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    wrong = value != status.MPI_SOURCE;
    MPI_Recv(table, 16, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
    wrong |= status.MPI_SOURCE != 2;
  }
  MPI_Finalize();
  return wrong;
}
