// Memory is allocated when NVSHMEM is initialised.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  int *p;
  cudaMalloc(&p, 4);
  nvshmem_init();
  nvshmem_free(nvshmem_malloc(64));
  nvshmem_finalize();
  cudaFree(p);
  return 0;
}
