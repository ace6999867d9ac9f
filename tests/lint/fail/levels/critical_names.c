// Critical sections of different names do not keep each other out.
#include <mpi.h>

static int in, out;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
#pragma omp critical(send)
    MPI_Send(&out, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
#pragma omp critical(receive)
    MPI_Recv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-THR-02 operation
  }
  MPI_Finalize();
  return 0;
}
