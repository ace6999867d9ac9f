// Each step frees its block; one that is used until the end is left to the library.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  char value = 1;
  void *kept = nvshmem_malloc(64);
  for (int step = 0; step < 3; step++) {
    void *halo = nvshmem_malloc(64);
    nvshmem_putmem(halo, &value, 1, 0);
    nvshmem_free(halo);
  }
  nvshmem_putmem(kept, &value, 1, 0);
  nvshmem_finalize();
  return 0;
}
