// The destination of a put was allocated by CUDA, for this PE alone.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  float own[16] = {}, *there;
  cudaMalloc(&there, sizeof own);
  nvshmem_float_put(there, own, 16, 0); //~ CS-SHM-01 operation
  nvshmem_quiet();
  cudaFree(there);
  nvshmem_finalize();
  return 0;
}
