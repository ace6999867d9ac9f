// A block that rank 1 sends is read before the all-to-all completed.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int out[8] = {0, 1, 2, 3, 4, 5, 6, 7}, in[16];
  int counts[2] = {2, 2}, sources[2] = {0, 4}, targets[2] = {1, 9}, seen;
  MPI_Request request;
  MPI_Ialltoallv(out, counts, sources, MPI_INT, in, counts, targets, MPI_INT, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  seen = in[10]; //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", seen == 4 * rank + 1 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
