/* A block is allocated once and left to shmem_finalize, others are freed. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long *kept = shmem_malloc(64), *freed = shmem_malloc(64);
  for (int step = 0; step < 3; step++) {
    long *halo = shmem_malloc(1024);
    halo[0] = me;
    shmem_free(halo);
    shmem_barrier_all();
  }
  shmem_free(freed);
  if (kept == NULL) return 1;
  shmem_finalize();
  return 0;
}
