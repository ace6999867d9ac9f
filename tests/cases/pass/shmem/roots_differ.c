/* PEs name the same root of a broadcast. */
//# mpi: openshmem
//# options: --stuck-after 1
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  static long source[8], dest[8], sync[SHMEM_BCAST_SYNC_SIZE];
  for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++) sync[i] = SHMEM_SYNC_VALUE;
  for (int i = 0; i < 8; i++) source[i] = i + me;
  shmem_barrier_all();
  shmem_broadcast64(dest, source, 8, 0, 0, 0, pes, sync);
  shmem_barrier_all();
  if (me == 1 && dest[3] != 3) return 1;
  shmem_finalize();
  return 0;
}
