// All threads wait in each round, though not at its end.
#include <mpi.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  for (int i = 0; i < 3; i++) {
#pragma omp single nowait
    MPI_Send(&value, 1, MPI_INT, 1, i, MPI_COMM_WORLD); //~ CS-THR-02 access
    if (i == 7) break;
#pragma omp for nowait
    for (int j = 0; j < 8; j++) value += j;
  }
  MPI_Finalize();
  return 0;
}
