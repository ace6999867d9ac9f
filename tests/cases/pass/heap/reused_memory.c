// Memory of a completed operation is freed and given out again for other uses.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int sum = 0;
  for (int step = 1; step <= 5; step++) {
    int *out = malloc(50 * sizeof(int)), *in = malloc(50 * sizeof(int));
    for (int i = 0; i < 50; i++) {
      out[i] = step;
    }
    MPI_Request requests[2];
    MPI_Irecv(in, 50, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 50, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    sum += in[49];
    free(in);
    free(out);
    int *scratch = calloc(50, sizeof(int));
    for (int i = 0; i < 50; i++) {
      scratch[i] += i;
    }
    sum += scratch[0];
    free(scratch);
  }

  MPI_Finalize();
  return sum == 15 ? 0 : 1;
}
