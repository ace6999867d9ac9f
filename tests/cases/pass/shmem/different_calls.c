/* All PEs call the same collectives. */
//# mpi: openshmem
//# options: --stuck-after 1
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  static long dest[4], source[4], sync[SHMEM_COLLECT_SYNC_SIZE];
  for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; i++) sync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  if (me == 0) {
    shmem_barrier_all();
    shmem_fcollect64(dest, source, 2, 0, 0, pes, sync);
  } else {
    shmem_barrier_all();
    shmem_fcollect64(dest, source, 2, 0, 0, pes, sync);
  }
  shmem_finalize();
  return 0;
}
