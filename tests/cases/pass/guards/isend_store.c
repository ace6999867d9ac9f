/* Code that nobody has recompiled loads from a message that is being sent, and stores to it
 * afterwards. */
//# hooks: none
//# options: --guards
#include <mpi.h>
#include <stdlib.h>

enum { COUNT = 1 << 18 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *out = malloc(COUNT * sizeof(double)), *in = malloc(COUNT * sizeof(double));
  for (int i = 0; i < COUNT; i++) out[i] = i;
  MPI_Request request;
  MPI_Isend(out, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request);
  double sum = 0;
  for (int i = 0; i < COUNT; i++) sum += out[i];
  MPI_Recv(in, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  out[COUNT / 2] = 7;
  for (int i = 0; i < COUNT; i++) sum -= in[i];
  free(out);
  free(in);
  MPI_Finalize();
  return sum != 0;
}
