// A task runs beside what its maker calls after it, not beside what it has called before.
#include <mpi.h>

static int in, out, sum;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
#pragma omp single
  for (int step = 0; step < 3; step++) {
#pragma omp task
    MPI_Bcast(&in, 1, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-THR-04 access
    MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); //~ CS-THR-04 operation
#pragma omp taskwait
  }
  MPI_Finalize();
  return 0;
}
