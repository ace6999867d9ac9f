// The holes of an indexed type are written.
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
  MPI_Isend(out, 1, picked, peer, 0, MPI_COMM_WORLD, &request);
  out[1] = 1;
  out[4] = 1;
  out[8] = 1;
  out[13] = 1;
  out[16] = 1;
  MPI_Recv(in, 6, MPI_FLOAT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&picked);

  MPI_Finalize();
  return in[3] == 7 ? 0 : 1;
}
