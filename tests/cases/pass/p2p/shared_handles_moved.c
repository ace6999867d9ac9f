/* Requests change places, and are copied, before they are waited for, in code that nobody has
   recompiled; without guards. Some libraries give all short sends the same handle. */
//# hooks: none
//# options: --guards=false
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 6000 };

static double *new_buffer(int count) {
  double *buffer = malloc(count * sizeof *buffer);
  for (int i = 0; i < count; i++) buffer[i] = i;
  return buffer;
}

static void swapped(int count, int peer) {
  double *first = new_buffer(count), *second = new_buffer(count), *in = new_buffer(count);
  MPI_Request older, newer, other;
  MPI_Isend(first, count, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &older);
  MPI_Isend(second, count, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &newer);
  for (int i = 0; i < 2; i++) MPI_Recv(in, count, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  other = older, older = newer, newer = other;
  MPI_Wait(&newer, MPI_STATUS_IGNORE); /* the send of `first` */
  memset(first, 0, count * sizeof *first);
  MPI_Sendrecv(in, count, MPI_DOUBLE, peer, 1, first, count, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  free(first);
  MPI_Wait(&older, MPI_STATUS_IGNORE);
  memset(second, 0, count * sizeof *second);
  free(second);
  free(in);
}

static void copied(int count, int peer) {
  enum { SENDS = 5 };
  double *out[SENDS], *in = new_buffer(count);
  MPI_Request requests[SENDS], rest[SENDS];
  for (int i = 0; i < SENDS; i++) {
    out[i] = new_buffer(count);
    MPI_Isend(out[i], count, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < SENDS; i++) MPI_Recv(in, count, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < SENDS; i++) rest[i] = requests[SENDS - 1 - i];
  MPI_Waitall(2, rest, MPI_STATUSES_IGNORE);
  for (int i = SENDS - 2; i < SENDS; i++) memset(out[i], 0, count * sizeof *in);
  MPI_Waitall(SENDS - 2, rest + 2, MPI_STATUSES_IGNORE);
  for (int i = 0; i < SENDS; i++) {
    memset(out[i], 0, count * sizeof *in);
    free(out[i]);
  }
  free(in);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int count = 1; count <= LARGEST; count *= 3)
    for (int round = 0; round < 2; round++) {
      swapped(count, 1 - rank);
      copied(count, 1 - rank);
    }
  MPI_Finalize();
}
