// Some ranks call a barrier, the others a function that is not analysed: it may call one, too.
#include <mpi.h>

void report_ready(MPI_Comm comm);

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access possible
  else
    report_ready(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
