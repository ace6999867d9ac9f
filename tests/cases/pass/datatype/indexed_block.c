// A list of mesh nodes is sent; the nodes that are not in the list are moved.
#include <mpi.h>

enum { NODES = 10 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static double xyz[NODES][3], in[4][3];
  int shared[4] = {9, 1, 3, 4}, is_shared[NODES] = {0};
  for (int i = 0; i < 4; i++) {
    is_shared[shared[i]] = 1;
    xyz[shared[i]][2] = 7;
  }
  MPI_Datatype node, list;
  MPI_Type_contiguous(3, MPI_DOUBLE, &node);
  MPI_Type_create_indexed_block(4, 1, shared, node, &list);
  MPI_Type_commit(&list);
  MPI_Type_free(&node);
  MPI_Request request;
  MPI_Isend(xyz, 1, list, peer, 0, MPI_COMM_WORLD, &request);
  for (int i = 0; i < NODES; i++) {
    if (!is_shared[i]) {
      xyz[i][0] = 0.5;
    }
  }
  MPI_Recv(in, 12, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&list);

  MPI_Finalize();
  return in[0][2] == 7 && in[2][2] == 7 ? 0 : 1;
}
