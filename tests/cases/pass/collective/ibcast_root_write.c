// The root of a nonblocking broadcast may read its buffer, and writes it after completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[100];
  MPI_Request request;
  if (rank == 0) {
    data[50] = 7;
  }
  MPI_Ibcast(data, 100, MPI_INT, 0, MPI_COMM_WORLD, &request);
  if (rank == 0) {
    data[99] = data[50] + 0 * rank;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return data[50] == 7 ? 0 : 1;
}
