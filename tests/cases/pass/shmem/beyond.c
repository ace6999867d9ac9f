/* Puts, strided ones too, that fill allocations to their ends. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  int next = (me + 1) % pes;
  static long here[16];
  long *all = shmem_malloc(12 * sizeof(long));
  shmem_long_put(all + 8, here, 4, next);
  shmem_fence();
  shmem_long_iput(all, here, 11, 1, 2, next);
  shmem_fence();
  shmem_putmem(all, here, 96, next);
  shmem_quiet();
  shmem_long_iget(here, all, 1, 3, 4, next);
  shmem_barrier_all();
  shmem_free(all);
  shmem_finalize();
  return 0;
}
