// All PEs are in as many barriers, and finalize then.
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
  for (int step = 0; step < 3; step++)
    nvshmem_barrier_all();
  nvshmem_finalize();
  MPI_Finalize();
  return 0;
}
