// The destination of a put is symmetric, and its source need not be.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  float own[16] = {}, *there = (float *)nvshmem_malloc(sizeof own), *mine;
  cudaMalloc(&mine, sizeof own);
  cudaMemset(mine, 0, sizeof own);
  cudaDeviceSynchronize();
  nvshmem_float_put(there, own, 16, 0);
  nvshmem_float_put(there, mine, 16, 0);
  nvshmem_quiet();
  cudaFree(mine);
  nvshmem_free(there);
  nvshmem_finalize();
  return 0;
}
