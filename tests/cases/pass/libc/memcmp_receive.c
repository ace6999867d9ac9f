// memcmp compares a checksum that has arrived, and the pending send's buffer.
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static unsigned char in[20], out[20];
  size_t n = 19 + (argc > 0);
  MPI_Request requests[2];
  MPI_Irecv(in, 20, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 20, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  int differ = memcmp(in, out, n);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  MPI_Finalize();
  return differ == 0 ? 0 : 1;
}
