// A partition is read before MPI_Parrived or MPI_Wait said that it arrived.
//# mpi: mpich
#include <mpi.h>
#include <stdio.h>

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
    MPI_Start(&request); //~ CS-BUF-02 operation ranks=1
    first = data[0]; //~ CS-BUF-02 access ranks=1
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  data[1] = first + token;

  printf("%s\n", first == (rank == 0 ? 0 : 7) && data[LENGTH] == 9 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
