/* Eight bytes there and back between two ranks, nonblocking: a program that does nothing but call
 * MPI.
 *
 *   pingpong SECONDS */
#include "measure.h"

static int rank;

static void round_trips(int times) {
  double out = 1, in;
  MPI_Request request[2];
  for (int k = 0; k < times; k++) {
    MPI_Irecv(&in, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request[0]);
    if (rank == 1) MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Isend(&out, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  }
}

int main(int argc, char **argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2 || ranks != 2) {
    fprintf(stderr, "usage: mpirun -n 2 pingpong SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  print_measured(measure(round_trips, atof(argv[1])));
  MPI_Finalize();
  return 0;
}
