/* A program that returns without shmem_finalize, and a block that is left: neither is forbidden. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long *there = shmem_malloc(64), here = me;
  shmem_long_put_nbi(there, &here, 1, (me + 1) % pes);
  shmem_barrier_all();
  return there[0] != (me + pes - 1) % pes;
}
