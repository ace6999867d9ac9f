// In `ordered` regions iterations take turns: the threads do, too.
#include <mpi.h>

static int out[64];

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#pragma omp parallel for ordered schedule(dynamic)
  for (int i = 0; i < 64; i++) {
    out[i]++;
#pragma omp ordered
    MPI_Send(&out[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD); //~ CS-THR-01 access
  }
  MPI_Finalize();
  return 0;
}
