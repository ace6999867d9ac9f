// The iterations of a worksharing loop (static) run in all threads.
#include <mpi.h>

static int out[64];

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 64; i++) {
#pragma omp critical
      MPI_Send(&out[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
