// A communicator is disconnected while a receive on it is pending, which may be done only when all
// is complete.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, in, out = 7;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 0, copy, &request); //~ CS-OBJ-03 operation
  MPI_Send(&out, 1, MPI_INT, 1 - rank, 0, copy);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_disconnect(&copy); //~ CS-OBJ-03 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
