// A pending broadcast and a pending receive write to different parts of one array.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[20];
  MPI_Request requests[2];
  MPI_Ibcast(data, 10, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
  if (rank == 1) {
    MPI_Irecv(data + 10, 10, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[1]);
  } else {
    MPI_Isend(data + 10, 10, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[1]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  MPI_Finalize();
  return data[0] == 0 ? 0 : 1;
}
