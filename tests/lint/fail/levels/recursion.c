// A parallel region in a function that calls itself.
#include <mpi.h>

static int value;

static void refine(int level) {
  if (level == 0) return;
#pragma omp parallel
  {
#pragma omp single
    {
      MPI_Send(&value, 1, MPI_INT, 1, level, MPI_COMM_WORLD); //~ CS-THR-01 access
      refine(level - 1);
    }
  }
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  refine(4);
  MPI_Finalize();
  return 0;
}
