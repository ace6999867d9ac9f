// A process that is not the root reads the broadcast's buffer before completion.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double data[10];
  double value = 7;
  MPI_Request request;
  if (rank == 1) {
    data[9] = 7;
  }
  MPI_Ibcast(data, 10, MPI_DOUBLE, 1, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation ranks=0
  if (rank == 0) {
    value = data[9]; //~ CS-BUF-02 access ranks=0
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", value == 7 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
