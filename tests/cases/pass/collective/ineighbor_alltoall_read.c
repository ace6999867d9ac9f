// On a line, ranks at its ends have a missing neighbour, whose block is not touched.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int dims[1] = {3}, periods[1] = {0}, left, right, value = -1;
  MPI_Comm line;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &line);
  MPI_Cart_shift(line, 0, 1, &left, &right);
  static int out[2], in[2] = {-1, -1};
  out[0] = out[1] = rank;
  MPI_Request request;
  MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, line, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  value = in[0];
  MPI_Comm_free(&line);

  MPI_Finalize();
  return value == (left == MPI_PROC_NULL ? -1 : left) ? 0 : 1;
}
