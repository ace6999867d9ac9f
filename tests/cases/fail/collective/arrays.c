// Counts and displacements of pending collectives are changed, freed, and left on the stack of a
// function that returns.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int out[8], in[16], far[16], third[16];
static int counts[2] = {4, 4}, places[2] = {0, 4};

__attribute__((noinline)) static int begin(MPI_Request *request, int four) {
  volatile int lengths[2] = {four, four};
  MPI_Iallgatherv(out, 4, MPI_INT, third, (int *)lengths, places, MPI_INT, MPI_COMM_WORLD, request); //~ CS-BUF-06 operation
  return lengths[0]; //~ CS-BUF-06 return func=begin
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Request requests[3];
  int *lengths = malloc(sizeof counts), four = argc > 9 ? 3 : 4;
  lengths[0] = lengths[1] = four;
  MPI_Iallgatherv(out, 4, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, &requests[0]); //~ CS-BUF-01 operation
  counts[1] = argc; //~ CS-BUF-01 access
  MPI_Ialltoallv(out, lengths, places, MPI_INT, far, lengths, places, MPI_INT, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-05 operation
  free(lengths); //~ CS-BUF-05 release
  four = begin(&requests[2], four);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  printf("%d %d %d\n", in[5] + far[5], counts[1], four);
  MPI_Finalize();
  return 0;
}
