// The barrier between two regions is in a function that each thread calls, or does not always.
#include <mpi.h>

static int value;

static void meet(int wanted) {
  value = wanted;
#pragma omp barrier

}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
#pragma omp single nowait
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    meet(argc);
#pragma omp single
    MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
