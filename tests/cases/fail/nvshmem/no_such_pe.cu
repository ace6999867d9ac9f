// A PE puts to its right neighbour, which the last one does not have.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  int *next = (int *)nvshmem_calloc(1, sizeof(int));
  nvshmem_int_p(next, 1, nvshmem_my_pe() + 1); //~ CS-SHM-03 operation
  nvshmem_barrier_all();
  nvshmem_free(next);
  nvshmem_finalize();
  return 0;
}
