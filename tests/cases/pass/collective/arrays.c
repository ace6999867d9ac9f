// Counts and displacements stay as they are until the collectives are complete; those that do not
// matter may change.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int out[8], in[16], far[16];
static int counts[2] = {4, 4}, places[2] = {0, 4}, unused[2] = {7, 7};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request requests[3];
  int *lengths = malloc(sizeof counts);
  lengths[0] = lengths[1] = 4;
  for (int i = 0; i < 8; i++) out[i] = rank;
  MPI_Iallgatherv(out, 4, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, &requests[0]);
  MPI_Ialltoallv(MPI_IN_PLACE, unused, unused, MPI_INT, far, lengths, places, MPI_INT, MPI_COMM_WORLD, &requests[1]);
  int everything[8];
  MPI_Igatherv(out, 4, MPI_INT, everything, rank == 0 ? counts : unused, rank == 0 ? places : unused, MPI_INT, 0, MPI_COMM_WORLD, &requests[2]);
  if (rank == 1) unused[1] = argc;
  if (rank == 0) unused[0] = argc;
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  free(lengths);
  counts[1] = argc;
  MPI_Finalize();
  return in[0] == 0 && in[5] == 1 && counts[1] == argc && unused[1 - (rank == 0)] == argc ? 0 : 1;
}
