// A message of count 0, or of an empty datatype, has no buffer.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int buffer[16] = {0};
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  MPI_Request requests[4];
  MPI_Irecv(buffer, 0, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(buffer, 0, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Irecv(buffer, 4, empty, peer, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(buffer, 4, empty, peer, 1, MPI_COMM_WORLD, &requests[3]);
  buffer[0] = 7;
  buffer[1] = buffer[0];
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Type_free(&empty);

  MPI_Finalize();
  return buffer[1] == 7 ? 0 : 1;
}
