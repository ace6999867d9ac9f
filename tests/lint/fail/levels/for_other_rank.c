// Each thread sends to some of the ranks, all but its own.
#include <mpi.h>

static int out[64];

int main(int argc, char **argv) {
  int provided, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
#pragma omp parallel for
  for (int to = 0; to < size; to++) {
    if (to != rank) MPI_Send(&out[to], 1, MPI_INT, to, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
  }
  MPI_Finalize();
  return 0;
}
