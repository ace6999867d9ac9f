// The second block of an indexed type is written.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static float out[20], in[6];
  int lengths[3] = {1, 3, 2}, displacements[3] = {0, 5, 14};
  MPI_Datatype picked;
  MPI_Type_indexed(3, lengths, displacements, MPI_FLOAT, &picked);
  MPI_Type_commit(&picked);
  out[7] = 7;
  MPI_Request request;
  MPI_Isend(out, 1, picked, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  out[7] = 1; //~ CS-BUF-01 access
  MPI_Recv(in, 6, MPI_FLOAT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&picked);

  MPI_Finalize();
  return 0;
}
