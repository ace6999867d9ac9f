// A `single` region within another, two functions apart.
#include <mpi.h>

static int value;

static void send(void) {
#pragma omp single
  MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
}

static void step(void) { send(); }

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  step();
  MPI_Finalize();
  return 0;
}
