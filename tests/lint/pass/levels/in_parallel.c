// A function that asks whether it runs in a parallel region.
#include <mpi.h>
#include <omp.h>

static int value;

static void send(void) {
  if (!omp_in_parallel()) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (omp_get_level() == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (omp_get_num_threads() == 1) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  send();
#pragma omp parallel
  {
    send();
#pragma omp master
    if (omp_in_parallel()) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
