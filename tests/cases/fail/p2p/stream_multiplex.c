// Buffers of messages between streams of MPICH's are used before these are complete.
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
  MPIX_Stream_comm_create_multiplex(MPI_COMM_WORLD, 1, &stream, &comm);
  MPI_Request requests[2];

  MPIX_Stream_irecv(in, 8, MPI_INT, peer, 0, comm, 0, 0, &requests[0]); //~ CS-BUF-02 operation
  MPIX_Stream_isend(out, 8, MPI_INT, peer, 0, comm, 0, 0, &requests[1]); //~ CS-BUF-01 operation
  out[0] = 7; //~ CS-BUF-01 access
  if (in[7] != peer) printf("%d\n", in[7]); //~ CS-BUF-02 access
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  if (rank == 0) {
    MPIX_Stream_isend(out, 8, MPI_INT, peer, 1, comm, 0, 0, &requests[0]);
    MPIX_Stream_send(out, 2, MPI_INT, peer, 3, comm, 0, 0);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  } else {
    MPIX_Stream_recv(in, 8, MPI_INT, peer, 1, comm, 0, 0, MPI_STATUS_IGNORE);
    MPIX_Stream_recv(in, 2, MPI_INT, peer, 3, comm, 0, 0, MPI_STATUS_IGNORE);
    wrong |= in[7] != peer;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
  MPIX_Stream_free(&stream);
  MPI_Finalize();
  return wrong;
}
