// Buffers of messages on a communicator with a stream of MPICH's are used before these are
// complete.
//# needs: MPIX_Stream_create
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  setenv("MPIR_CVAR_CH4_RESERVE_VCIS", "1", 0);
  MPI_Init(&argc, &argv);
  int rank, in[8] = {0}, out[8], wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  for (int i = 0; i < 8; i++) out[i] = rank;
  MPIX_Stream stream;
  MPIX_Stream_create(MPI_INFO_NULL, &stream);
  MPI_Comm comm;
  MPIX_Stream_comm_create(MPI_COMM_WORLD, stream, &comm);

  MPI_Request requests[2];
  MPI_Irecv(in, 8, MPI_INT, peer, 0, comm, &requests[0]);
  MPI_Isend(out, 8, MPI_INT, peer, 0, comm, &requests[1]); //~ CS-BUF-01 operation
  out[0] = 7; //~ CS-BUF-01 access
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  wrong |= in[7] != peer;

  if (rank == 0) {
    MPI_Send(out, 8, MPI_INT, peer, 2, comm);
  } else {
    MPI_Status status;
    MPI_Recv(in, 8, MPI_INT, MPI_ANY_SOURCE, 2, comm, &status);
    int count;
    MPI_Get_count(&status, MPI_INT, &count);
    wrong |= count != 8 || in[7] != peer || status.MPI_SOURCE != peer;
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, comm);
  MPI_Comm_free(&comm);
  MPIX_Stream_free(&stream);
  MPI_Finalize();
  return wrong;
}
