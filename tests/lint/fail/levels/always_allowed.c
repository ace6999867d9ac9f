// Some calls are allowed to all threads at any time.
#include <mpi.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#pragma omp parallel
  {
    int initialized, level, size;
    double start = MPI_Wtime();
    MPI_Initialized(&initialized);
    MPI_Query_thread(&level);
    MPI_Comm_size(MPI_COMM_WORLD, &size); //~ CS-THR-01 access
    if (MPI_Wtime() < start || !initialized) value++;
  }
  MPI_Finalize();
  return 0;
}
