// An atomic operation on a counter that was freed.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  uint64_t *count = (uint64_t *)nvshmem_calloc(1, sizeof(uint64_t));
  nvshmem_free(count); //~ CS-SHM-01 release
  nvshmem_uint64_atomic_inc(count, 0); //~ CS-SHM-01 operation
  nvshmem_finalize();
  return 0;
}
