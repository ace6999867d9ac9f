// A fence between the stores of two ranks to the same element.
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
  int *first = rank ? theirs : mine;
  MPI_Win_fence(0, win);
  if (rank == 0) {
    printf("first\n");
    first[5] = 1;
  }
  MPI_Win_fence(0, win);
  if (rank == 1)
    first[5] = 2;
  MPI_Win_fence(0, win);
  int last = first[5];
  MPI_Win_fence(0, win);
  printf("%d\n", last);

  MPI_Win_free(&win);
  MPI_Finalize();
  return last != 2;
}
