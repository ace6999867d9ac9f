// The number of the PE is asked for at the end, when NVSHMEM is finalized.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

#include <cstdio>

int main() {
  nvshmem_init();
  nvshmem_barrier_all();
  nvshmem_finalize();
  printf("PE %d is done\n", nvshmem_my_pe()); //~ CS-SHM-08 operation
  return 0;
}
