// Two separate arrays are received by one call with absolute addresses.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  double *a = calloc(8, sizeof(double)), *b = calloc(8, sizeof(double)), *other = calloc(8, sizeof(double));
  double out[6] = {1, 2, 3, 4, 5, 6}, seen;
  int lengths[2] = {4, 2};
  MPI_Aint addresses[2];
  MPI_Get_address(a, &addresses[0]);
  MPI_Get_address(b + 6, &addresses[1]);
  MPI_Datatype both;
  MPI_Type_create_hindexed(2, lengths, addresses, MPI_DOUBLE, &both);
  MPI_Type_commit(&both);
  MPI_Request request;
  MPI_Irecv(MPI_BOTTOM, 1, both, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, 6, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  seen = a[4] + b[5] + other[0];
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  seen += b[7];
  MPI_Type_free(&both);
  free(a);
  free(b);
  free(other);

  MPI_Finalize();
  return seen == 6 ? 0 : 1;
}
