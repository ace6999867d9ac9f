// Two threads chosen by their numbers communicate at the same time.
#include <mpi.h>
#include <omp.h>

static int in, out;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel num_threads(4)
  {
    int me = omp_get_thread_num();
    if (me == 1) MPI_Send(&out, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
    if (me == 2) MPI_Recv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-THR-02 operation
  }
  MPI_Finalize();
  return 0;
}
