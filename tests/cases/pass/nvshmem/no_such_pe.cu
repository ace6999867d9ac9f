// The last PE has the first one as right neighbour.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  int *next = (int *)nvshmem_calloc(1, sizeof(int));
  nvshmem_int_p(next, 1, (nvshmem_my_pe() + 1) % nvshmem_n_pes());
  nvshmem_barrier_all();
  int got = nvshmem_int_g(next, nvshmem_my_pe());
  nvshmem_free(next);
  nvshmem_finalize();
  return got != 1;
}
