// A block-cyclic distributed array: the elements of the other rank's blocks are written.
#include <mpi.h>

enum { N = 12, BLOCK = 2 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int global[N], in[N / 2];
  int sizes[1] = {N}, kinds[1] = {MPI_DISTRIBUTE_CYCLIC}, arguments[1] = {BLOCK}, grid[1] = {2};
  MPI_Datatype mine;
  MPI_Type_create_darray(2, rank, 1, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_INT, &mine);
  MPI_Type_commit(&mine);
  for (int i = 0; i < N; i++) {
    global[i] = i;
  }
  MPI_Request request;
  MPI_Isend(global, 1, mine, peer, 0, MPI_COMM_WORLD, &request);
  int writer = peer;
  for (int i = BLOCK * writer; i < N; i += 2 * BLOCK) {
    global[i] = -1;
  }
  MPI_Recv(in, N / 2, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&mine);

  MPI_Finalize();
  return in[0] == 2 * peer && in[5] == 9 + 2 * peer ? 0 : 1;
}
