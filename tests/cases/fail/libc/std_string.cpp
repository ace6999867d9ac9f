// The last character of a std::string that is being sent is replaced.
#include <mpi.h>
#include <stdio.h>
#include <string>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  std::string text(40, 'a');
  char in[40];
  MPI_Request request;
  MPI_Isend(text.data(), 40, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  text[39] = 'b'; //~ CS-BUF-01 access
  MPI_Recv(in, 40, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", in[39] == 'a' && text[39] == 'b' ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
