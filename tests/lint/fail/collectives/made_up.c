/* Conditions on the rank that may make up for each other, and threads that may be as many as calls
 * elsewhere. */
#include <mpi.h>

int main(int argc, char **argv) {
  int provided, rank, value = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) { //~ CS-COL-01 cause possible
    value = 1;
    MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access possible
  }
  if (rank == 1) { //~ CS-COL-01 cause possible
    value = 2;
    if (value != rank)
      MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access possible
  }
  if (rank == 0) { //~ CS-COL-01 cause possible
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
      MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
  } else {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); //~ CS-COL-01 access possible
  }
  MPI_Finalize();
}
