// With `copyprivate` a `single` region ends with all threads waiting; not so with `nowait`.
#include <mpi.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
    int in;
#pragma omp single nowait
    MPI_Recv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-THR-02 access
#pragma omp single
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-02 operation
  }
  MPI_Finalize();
  return 0;
}
