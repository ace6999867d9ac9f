// A partition is read once MPI_Parrived says so, the others after MPI_Wait.
//# mpi: mpich
#include <mpi.h>

enum { PARTITIONS = 2, LENGTH = 8 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int data[PARTITIONS * LENGTH] = {0}, first = 0, token = 0;
  MPI_Request request;
  if (rank == 0) {
    MPI_Psend_init(data, PARTITIONS, LENGTH, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    data[0] = 7;
    MPI_Pready(0, request);
    data[LENGTH] = 9;
    MPI_Pready(1, request);
  } else {
    MPI_Precv_init(data, PARTITIONS, LENGTH, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    while (!token) {
      MPI_Parrived(request, 0, &token);
    }
    first = data[0];
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);

  MPI_Finalize();
  return first == (rank == 0 ? 0 : 7) && data[LENGTH] == 9 ? 0 : 1;
}
