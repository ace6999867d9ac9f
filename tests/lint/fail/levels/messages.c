// Each thread sends and receives.
#include <mpi.h>
#include <omp.h>

static int in[64], out[64];

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel num_threads(4)
  {
    int me = omp_get_thread_num();
    MPI_Request request;
    MPI_Isend(&out[me], 1, MPI_INT, 1, me, MPI_COMM_WORLD, &request); //~ CS-THR-02 access
    MPI_Recv(&in[me], 1, MPI_INT, 1, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-THR-02 access
    MPI_Wait(&request, MPI_STATUS_IGNORE); //~ CS-THR-02 access
  }
  MPI_Finalize();
  return 0;
}
