// A PE finalizes while the other one is in a barrier.
//# gpu: 2
//# options: --stuck-after 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  nvshmem_init();
  for (int step = 0; step < 3 + rank; step++)
    nvshmem_barrier_all(); //~ CS-SHM-11 operation
  nvshmem_finalize(); //~ CS-SHM-11 access
  MPI_Finalize();
  return 0;
}
