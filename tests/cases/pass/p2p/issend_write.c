// The buffer of a synchronous send is written after its completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[16] = {7};
  if (rank == 0) {
    MPI_Request request;
    MPI_Issend(data, 16, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    data[15] = 1;
  } else {
    MPI_Recv(data, 16, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  MPI_Finalize();
  return data[0] == 7 && data[15] == (rank == 0) ? 0 : 1;
}
