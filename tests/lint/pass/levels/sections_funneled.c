// Any thread may run a section.
#include <mpi.h>

static int out;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
#pragma omp sections nowait
    {
#pragma omp section
      MPI_Send(&out, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#pragma omp section
      out++;
    }
  }
  MPI_Finalize();
  return 0;
}
