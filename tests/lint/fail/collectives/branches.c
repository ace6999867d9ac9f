/* Both sides of a condition call the same, but not with the same root and reduction. */
#include <mpi.h>

static double local[4], total[4];

static void share(int rank) {
  if (rank == 0) //~ CS-COL-02 cause
    MPI_Bcast(local, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-COL-02 access
  else
    MPI_Bcast(local, 4, MPI_DOUBLE, 1, MPI_COMM_WORLD); //~ CS-COL-02 operation
}

static void sum(int rank) {
  if (rank % 2) { //~ CS-COL-03 cause possible
    MPI_Allreduce(local, total, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); //~ CS-COL-03 access possible
  } else {
    local[0] = 1;
    MPI_Allreduce(local, total, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); //~ CS-COL-03 operation possible
  }
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  share(rank);
  sum(rank);
  MPI_Finalize();
  return 0;
}
