// A block that a neighbour sends is overwritten before completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int dims[1] = {2}, periods[1] = {1};
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  static int out[4] = {1, 2, 3, 4}, in[8];
  int counts[2] = {2, 2}, from[2] = {0, 2}, to[2] = {1, 5};
  MPI_Request request;
  MPI_Ineighbor_alltoallv(out, counts, from, MPI_INT, in, counts, to, MPI_INT, ring, &request); //~ CS-BUF-03 operation
  in[6] = 0; //~ CS-BUF-03 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&ring);

  MPI_Finalize();
  return 0;
}
