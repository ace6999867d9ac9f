/* Searches that end with what is the rank's own, as nobody else has it, and a place that is the
 * rank's own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int all[64], data[8];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int mine = rand() % 100 + rank;
  MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  int least = 50 + rank % 2;
  for (int i = 0; i < size; i++)
    if (all[i] < least)
      least = all[i];
  if (least < 50)
    MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access possible
  int most = mine, where = rank;
  for (int i = 0; i < size; i++)
    if (all[i] > most) {
      most = all[i];
      where = i;
    }
  if (where == 1)
    MPI_Bcast(data, 8, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-COL-01 access possible
  printf("%d %d\n", least, most);
  MPI_Finalize();
}
