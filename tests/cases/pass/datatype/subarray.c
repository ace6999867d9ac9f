// The halo row of a tile is received while the inner tile is updated.
#include <mpi.h>

enum { N = 10 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static double tile[N][N], edge[N - 2];
  int sizes[2] = {N, N}, halo_size[2] = {1, N - 2}, halo_start[2] = {N - 1, 1};
  MPI_Datatype halo;
  MPI_Type_create_subarray(2, sizes, halo_size, halo_start, MPI_ORDER_C, MPI_DOUBLE, &halo);
  MPI_Type_commit(&halo);
  edge[0] = 7;
  MPI_Request request;
  MPI_Irecv(tile, 1, halo, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Send(edge, N - 2, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  for (int i = 1; i < N - 1; i++) {
    for (int j = 0; j < N; j++) {
      tile[i][j] = 1;
    }
  }
  tile[N - 1][0] = tile[N - 1][N - 1] = 2;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&halo);

  MPI_Finalize();
  return tile[N - 1][1] == 7 ? 0 : 1;
}
