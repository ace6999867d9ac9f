// A message of no elements needs no datatype, also beside a pending operation.
//# mpi: mpich
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data = 1;
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Send(NULL, 0, MPI_DATATYPE_NULL, 1, 1, MPI_COMM_WORLD);
  } else {
    MPI_Irecv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Recv(NULL, 0, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
