/* Searches of what all ranks have given, that begin with the rank's own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int all[64], data[8];

static void range(int mine, int *least, int *where, int *most) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < size; i++)
    all[i] = 0;
  all[rank] = mine;
  MPI_Allreduce(MPI_IN_PLACE, all, size, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  *least = 5 * mine;
  *where = 0;
  *most = 0;
  for (int i = 0; i < size; i++) {
    if (all[i] < *least) {
      *least = all[i];
      *where = i;
    }
    if (all[i] >= *most)
      *most = all[i];
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int mine = rand() % 100 + rank + 1;
  MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  int least = mine;
  for (int i = 0; i < size; i++)
    if (all[i] < least)
      least = all[i];
  if (least < 50)
    MPI_Barrier(MPI_COMM_WORLD);
  int best = mine, where = 0, most = 0;
  range(mine, &best, &where, &most);
  while (best < most - 1) {
    MPI_Bcast(data, 8, MPI_INT, where, MPI_COMM_WORLD);
    range(mine + data[0], &best, &where, &most);
  }
  printf("%d %d\n", least, most);
  MPI_Finalize();
}
