/* A loop allocates in each iteration and frees nothing of that. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long *kept = shmem_malloc(64), *freed = shmem_malloc(64);
  for (int step = 0; step < 3; step++) {
    long *halo = shmem_malloc(1024); //~ CS-SHM-07 operation ranks=0,1
    halo[0] = me;
    shmem_barrier_all();
  }
  shmem_free(freed);
  if (kept == NULL) return 1;
  shmem_finalize();
  return 0;
}
