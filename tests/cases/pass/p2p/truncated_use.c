// The receive posts 100 elements and gets 10; all 100 are the program's again after MPI_Wait.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int data[100], count = 10;
  for (int i = 0; i < 100; i++) {
    data[i] = i;
  }
  if (rank == 0) {
    MPI_Send(data + 50, 10, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(data, 100, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    data[99] = data[0];
  }

  MPI_Finalize();
  return count == 10 && data[99] == (rank == 0 ? 99 : 50) ? 0 : 1;
}
