// The same on two communicators: allowed, but not with MPI_THREAD_SERIALIZED.
#include <mpi.h>

static int mine, sum[2];
static MPI_Comm other;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
#pragma omp parallel
  {
#pragma omp single nowait
    MPI_Reduce(&mine, &sum[0], 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
    mine++;
#pragma omp single
    MPI_Reduce(&mine, &sum[1], 1, MPI_INT, MPI_SUM, 0, other); //~ CS-THR-02 operation
  }
  MPI_Finalize();
  return 0;
}
