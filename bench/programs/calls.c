/* Calls of MPI and nothing else, by one rank that sends itself eight bytes: the seconds of one
 * call.
 *
 *   calls SECONDS */
#include "measure.h"

enum { CALLS = 3 };

static double *out, *in;

static void call(int times) {
  MPI_Request request[2];
  for (int k = 0; k < times; k++) {
    MPI_Irecv(in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &request[0]);
    MPI_Isend(out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) {
    fprintf(stderr, "usage: mpirun -n 1 calls SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  out = (double *)calloc(4096, sizeof *out);
  in = (double *)calloc(4096, sizeof *in);
  print_measured(measure(call, atof(argv[1])) / CALLS);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
