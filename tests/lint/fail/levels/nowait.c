// Two reductions in `single` regions; after `nowait` another thread is in the second meanwhile
// (Listing 1.2).
#include <mpi.h>

static int mine, sum[2];

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
#pragma omp parallel
  {
#pragma omp single nowait
    MPI_Reduce(&mine, &sum[0], 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); //~ CS-THR-04 access
    mine++;
#pragma omp single
    MPI_Reduce(&mine, &sum[1], 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); //~ CS-THR-04 operation
  }
  MPI_Finalize();
  return 0;
}
