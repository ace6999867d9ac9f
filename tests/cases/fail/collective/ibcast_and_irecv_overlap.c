// A pending broadcast and a pending receive write to the same array.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[20];
  MPI_Request requests[2];
  MPI_Ibcast(data, 10, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]); //~ CS-BUF-04 operation ranks=1
  if (rank == 1) {
    MPI_Irecv(data + 5, 10, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-04 access ranks=1
  } else {
    MPI_Isend(data + 10, 10, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[1]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  MPI_Finalize();
  return 0;
}
