/* The same, called by all ranks as often. */
#include <mpi.h>

int main(int argc, char **argv) {
  int provided, rank, value = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) value = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) value = 2;
  if (rank == 0) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
