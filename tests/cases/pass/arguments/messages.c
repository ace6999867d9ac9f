// Messages with unusual arguments that are allowed.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank, size, value = 0, found = 0, *largest;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm twin, pair;
  MPI_Comm_dup(MPI_COMM_SELF, &twin);
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &pair);
  MPI_Request requests[2];

  // Nowhere, where nothing else matters.
  MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  // Nothing, from nowhere in memory.
  MPI_Isend(NULL, 0, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  // The largest tag, in small communicators.
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &found);
  MPI_Comm own[] = {twin, pair};
  for (int i = 0; i < 2; i++) {
    MPI_Isend(&rank, 1, MPI_INT, 0, *largest, own[i], &requests[0]);
    MPI_Irecv(&value, 1, MPI_INT, 0, *largest, own[i], &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  // Absolute addresses.
  MPI_Datatype there;
  MPI_Aint address;
  int one = 1;
  MPI_Get_address(&value, &address);
  MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &there);
  MPI_Type_commit(&there);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 2, MPI_BOTTOM, 1, there, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Type_free(&there);
  printf("%d\n", value);
  MPI_Comm_free(&pair);
  MPI_Comm_free(&twin);
  MPI_Finalize();
  return 0;
}
