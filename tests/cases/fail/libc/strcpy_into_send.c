// strcpy writes the next name into the buffer of a pending send.
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static char name[64], in[64];
  const char *next = argv[0];
  strcpy(name, "first");
  MPI_Request request;
  MPI_Isend(name, 6, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  strcpy(name, strrchr(next, '/') + 1); //~ CS-BUF-01 access
  MPI_Recv(in, 64, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
