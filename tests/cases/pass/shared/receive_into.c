// The owner reads what was received into its part after a barrier.
//# np: 2
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = (rank + 1) % size;

  MPI_Win win;
  int *mine, *theirs, unit;
  MPI_Aint bytes;
  MPI_Win_allocate_shared(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_shared_query(win, right, &bytes, &unit, &theirs);
  int out = 5, seen = 0;
  if (rank == 0) {
    MPI_Request request;
    MPI_Irecv(theirs + 4, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1)
    seen = mine[4];
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d\n", seen);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank && seen != 5;
}
