// Each step allocates a block, and only the last of all is freed.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  char value = 1;
  for (int step = 0; step < 3; step++) {
    void *halo = nvshmem_malloc(64); //~ CS-SHM-07 operation
    nvshmem_putmem(halo, &value, 1, 0);
  }
  void *last = nvshmem_malloc(64);
  nvshmem_free(last);
  nvshmem_finalize();
  return 0;
}
