// The root of a nonblocking broadcast writes its buffer before completion (MPI 4.1 §6.12).
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[100];
  MPI_Request request;
  if (rank == 0) {
    data[50] = 7;
  }
  MPI_Ibcast(data, 100, MPI_INT, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation ranks=0
  if (rank == 0) {
    data[50] = 8; //~ CS-BUF-01 access ranks=0
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", data[50] == 14 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
