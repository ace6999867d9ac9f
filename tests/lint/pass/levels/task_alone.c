// Tasks outside parallel regions, and of teams of one thread, are run by the thread that makes
// them.
#include <mpi.h>
#include <omp.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
#pragma omp task
  MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#pragma omp taskwait
#pragma omp parallel num_threads(1)
  {
#pragma omp task
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
#pragma omp parallel if (0)
  MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  omp_set_num_threads(1);
#pragma omp parallel
  MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
