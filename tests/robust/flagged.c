/* Two mistakes about collectives: that the roots differ is seen in the source, that the datatypes
 * do is not. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
  int rank, *value = calloc(1, sizeof *value);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Datatype types[] = {MPI_INT, MPI_FLOAT};
  MPI_Bcast(value, 1, types[(rank + (time(NULL) > 0)) % 2], 0, MPI_COMM_WORLD);
  MPI_Bcast(value, 1, MPI_INT, rank, MPI_COMM_WORLD);
  free(value);
  MPI_Finalize();
  return 0;
}
