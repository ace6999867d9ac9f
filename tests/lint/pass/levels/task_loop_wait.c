// Tasks made in a loop run at the same time, unless each is waited for.
#include <mpi.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 8; i++) {
#pragma omp task
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#pragma omp taskwait
  }
  MPI_Finalize();
  return 0;
}
