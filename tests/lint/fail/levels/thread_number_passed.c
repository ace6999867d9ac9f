// The number of the thread goes to a function.
#include <mpi.h>
#include <omp.h>

static int value;

static void send(int thread) {
  if (thread < 2) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-01 access
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#pragma omp parallel
  send(omp_get_thread_num());
  MPI_Finalize();
  return 0;
}
