// A block is freed once, and then a null pointer.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  void *block = nvshmem_malloc(64);
  nvshmem_free(block);
  block = nullptr;
  nvshmem_free(block);
  nvshmem_finalize();
  return 0;
}
