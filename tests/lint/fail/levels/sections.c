// Two sections run at the same time.
#include <mpi.h>

static int in, out;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel sections
  {
#pragma omp section
    {
      MPI_Send(&out, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
    }
#pragma omp section
    {
      MPI_Recv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-THR-02 operation
    }
#pragma omp section
    out++;
  }
  MPI_Finalize();
  return 0;
}
