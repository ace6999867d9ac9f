// All PEs allocate as much as the one that needs most.
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
  float *field = (float *)nvshmem_malloc(2 * 64 * sizeof(float));
  nvshmem_free(field);
  nvshmem_finalize();
  MPI_Finalize();
  return 0;
}
