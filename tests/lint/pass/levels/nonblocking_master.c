// The master thread starts an operation, and who completes it?
#include <mpi.h>

static int value, other;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Request request;
#pragma omp parallel
  {
#pragma omp master
    MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
#pragma omp for
    for (int i = 0; i < 8; i++) other += i;
#pragma omp master
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
