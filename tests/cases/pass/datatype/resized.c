// Every fourth int is sent, by an int resized to four times its extent; the others are written.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int out[40], in[10];
  MPI_Datatype spaced;
  MPI_Type_create_resized(MPI_INT, 0, 4 * sizeof(int), &spaced);
  MPI_Type_commit(&spaced);
  MPI_Request request;
  MPI_Isend(out, 10, spaced, peer, 0, MPI_COMM_WORLD, &request);
  for (int i = 1; i < 40; i++) {
    if (i % 4 != 0) {
      out[i] = i;
    }
  }
  MPI_Recv(in, 10, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&spaced);

  MPI_Finalize();
  return in[8] == 0 ? 0 : 1;
}
