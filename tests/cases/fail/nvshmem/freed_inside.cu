// What is freed is not the beginning of the block.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  char *block = (char *)nvshmem_malloc(64); //~ CS-SHM-05 release
  block += 8;
  nvshmem_free(block); //~ CS-SHM-05 operation
  nvshmem_finalize();
  return 0;
}
