// The gap between the blocks is used, the blocks after completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int out[8] = {0, 1, 2, 3, 4, 5, 6, 7}, in[16];
  int counts[2] = {2, 2}, sources[2] = {0, 4}, targets[2] = {1, 9}, seen;
  MPI_Request request;
  MPI_Ialltoallv(out, counts, sources, MPI_INT, in, counts, targets, MPI_INT, MPI_COMM_WORLD, &request);
  in[3] = 0;
  in[8] = 0;
  seen = in[0] + in[3] + in[8] + in[11];
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  seen += in[10];

  MPI_Finalize();
  return seen == 4 * rank + 1 ? 0 : 1;
}
