// The program keeps the address that it has got.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  char *block = (char *)nvshmem_malloc(64), *part = block + 8;
  nvshmem_putmem(part, "commsan", 8, 0);
  nvshmem_free(block);
  nvshmem_finalize();
  return 0;
}
