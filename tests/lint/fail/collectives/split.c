/* A rank of the part alone comes to the barrier of the part. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  MPI_Comm part;
  int mine;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  MPI_Comm_rank(part, &mine);
  if (mine == 0) //~ CS-COL-01 cause
    MPI_Barrier(part); //~ CS-COL-01 access
  MPI_Comm_free(&part);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
