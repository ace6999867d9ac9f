// A runtime is set up, and memory allocated, before NVSHMEM is initialised.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  int *p;
  cudaMalloc(&p, 4);
  nvshmem_malloc(64); //~ CS-SHM-08 operation
  nvshmem_init();
  nvshmem_finalize();
  cudaFree(p);
  return 0;
}
