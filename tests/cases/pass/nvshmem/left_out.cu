// All PEs are in a barrier before they wait in MPI.
//# gpu: 2
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  nvshmem_init();
  nvshmem_barrier_all();
  MPI_Barrier(MPI_COMM_WORLD);
  nvshmem_finalize();
  MPI_Finalize();
  return 0;
}
