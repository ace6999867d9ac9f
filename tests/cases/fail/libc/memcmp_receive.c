// memcmp compares a checksum that is still being received.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static unsigned char in[20], out[20];
  size_t n = 19 + (argc > 0);
  MPI_Request requests[2];
  MPI_Irecv(in, 20, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]); //~ CS-BUF-02 operation
  MPI_Isend(out, 20, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]);
  int differ = memcmp(in, out, n); //~ CS-BUF-02 access
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  printf("%s\n", differ == 0 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
