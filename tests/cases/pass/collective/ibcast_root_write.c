// The root of a nonblocking broadcast may read its buffer, and writes it after completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[100];
  int seen = 7;
  MPI_Request request;
  if (rank == 0) {
    data[50] = 7;
  }
  MPI_Ibcast(data, 100, MPI_INT, 0, MPI_COMM_WORLD, &request);
  if (rank == 0) {
    seen = data[50];
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  data[50] += seen;

  MPI_Finalize();
  return data[50] == 14 ? 0 : 1;
}
