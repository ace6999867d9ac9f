// The same collective where all threads of an outer region call the function: many at once.
#include <mpi.h>

static int mine, sum;

static void add(void) {
#pragma omp parallel
  {
    mine++;
#pragma omp single
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); //~ CS-THR-04 access
  }
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
#pragma omp parallel
  add();
  MPI_Finalize();
  return 0;
}
