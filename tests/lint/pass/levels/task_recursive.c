// Tasks that make tasks.
#include <mpi.h>

static int value;

static void split(int depth) {
  if (depth == 0) return;
#pragma omp task
  split(depth - 1);
#pragma omp task
  split(depth - 2 > 0 ? depth - 2 : 0);
#pragma omp critical
  MPI_Send(&value, 1, MPI_INT, 1, depth, MPI_COMM_WORLD);
#pragma omp taskwait
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
#pragma omp single
  split(8);
  MPI_Finalize();
  return 0;
}
