// The type's data lie before the buffer argument; the element just there is written.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int out[16], in[6];
  int lengths[1] = {2}, displacements[1] = {-3};
  MPI_Datatype before, stepped;
  MPI_Type_indexed(1, lengths, displacements, MPI_INT, &before);
  MPI_Type_create_resized(before, -3 * (MPI_Aint)sizeof(int), 4 * sizeof(int), &stepped);
  MPI_Type_commit(&stepped);
  MPI_Type_free(&before);
  for (int i = 0; i < 16; i++) {
    out[i] = i;
  }
  MPI_Request request;
  MPI_Isend(out + 4, 3, stepped, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  out[2] = -1; //~ CS-BUF-01 access
  MPI_Recv(in, 6, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&stepped);

  MPI_Finalize();
  return 0;
}
