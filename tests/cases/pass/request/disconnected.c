// A communicator is freed while a receive on it is pending, and another one is disconnected when
// all is complete.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, in, out = 7;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm copy, other;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 0, copy, &request);
  MPI_Send(&out, 1, MPI_INT, 1 - rank, 0, copy);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&copy);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 0, other, &request);
  MPI_Send(&out, 1, MPI_INT, 1 - rank, 0, other);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&other);
  MPI_Finalize();
  return in == 7 ? 0 : 1;
}
