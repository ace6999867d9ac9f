// The stride is in bytes: every third int is received, and the third one is read.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[30], out[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  int seen;
  MPI_Datatype every_third;
  MPI_Type_create_hvector(10, 1, 3 * sizeof(int), MPI_INT, &every_third);
  MPI_Type_commit(&every_third);
  MPI_Request request;
  MPI_Irecv(in, 1, every_third, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  MPI_Send(out, 10, MPI_INT, peer, 0, MPI_COMM_WORLD);
  seen = in[3]; //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&every_third);

  printf("%s\n", seen == 9 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
