// The number of the PE is kept; NVSHMEM is initialised again when it is needed again.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

#include <cstdio>

int main() {
  nvshmem_init();
  int me = nvshmem_my_pe();
  nvshmem_barrier_all();
  nvshmem_finalize();
  printf("PE %d is done\n", me);
  nvshmem_init();
  nvshmem_barrier_all();
  nvshmem_finalize();
  return 0;
}
