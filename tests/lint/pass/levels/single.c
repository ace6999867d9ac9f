// A collective in a `single` region needs MPI_THREAD_SERIALIZED (Listing 1.1 of Saillard et al.
// 2015).
#include <mpi.h>

static int mine, sum;

static void add(void) {
#pragma omp parallel
  {
    mine++;
#pragma omp single
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  add();
  MPI_Finalize();
  return 0;
}
