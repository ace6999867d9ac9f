// A test of the rank lets all threads in.
#include <mpi.h>

static int value, rank;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel
  {
    int mine;
#pragma omp single
    {
    MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    if (rank == 0 && mine == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
