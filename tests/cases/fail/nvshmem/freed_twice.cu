// A block is freed by two owners.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  void *block = nvshmem_malloc(64);
  nvshmem_free(block); //~ CS-SHM-05 release
  nvshmem_free(block); //~ CS-SHM-05 operation
  nvshmem_finalize();
  return 0;
}
