// A block at a byte displacement is written.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static char out[64], in[24];
  MPI_Aint displacements[3] = {3, 20, 50};
  MPI_Datatype blocks;
  MPI_Type_create_hindexed_block(3, 8, displacements, MPI_CHAR, &blocks);
  MPI_Type_commit(&blocks);
  out[27] = 'x';
  MPI_Request request;
  MPI_Isend(out, 1, blocks, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  out[27] = 0; //~ CS-BUF-01 access
  MPI_Recv(in, 24, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&blocks);

  MPI_Finalize();
  return 0;
}
