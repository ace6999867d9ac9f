// One iteration of a worksharing loop communicates: some thread, once.
#include <mpi.h>

static int out[64];

int main(int argc, char **argv) {
  int provided, last = argc + 60;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 64; i++) {
      out[i]++;
      if (i == last) MPI_Send(&out[i], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 64; i++) {
      switch (i) {
      case 3: MPI_Send(&out[i], 1, MPI_INT, 1, 0, MPI_COMM_WORLD); break;
      default: out[i]++;
      }
    }
  }
  MPI_Finalize();
  return 0;
}
