// A counter is freed after the last operation on it.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  uint64_t *count = (uint64_t *)nvshmem_calloc(1, sizeof(uint64_t));
  nvshmem_uint64_atomic_inc(count, 0);
  nvshmem_free(count);
  nvshmem_finalize();
  return 0;
}
