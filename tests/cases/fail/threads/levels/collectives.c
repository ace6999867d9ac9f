// Two threads reduce on one communicator: their reductions may meet crosswise.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
  int provided, rank, sums[2] = {1, 1};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm comms[2];
  for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  #pragma omp parallel num_threads(2)
  {
    int t = omp_get_thread_num();
    MPI_Allreduce(MPI_IN_PLACE, &sums[t], 1, MPI_INT, MPI_SUM, comms[0]); //~ CS-THR-04 access //~ CS-THR-04 operation
  }
  for (int i = 0; i < 2; i++) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  return sums[0] == 2 && sums[1] == 2 ? 0 : 1;
}
