/* All PEs have cleared the destination of a broadcast before the root calls it. */
//# mpi: openshmem
#include <shmem.h>

static long sync[SHMEM_BCAST_SYNC_SIZE], from[16], to[16];

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++) sync[i] = SHMEM_SYNC_VALUE;
  for (int i = 0; i < 16; i++) from[i] = 10 * me + i;
  if (me > 0) to[15] = -1;
  shmem_barrier_all();
  shmem_broadcast64(to, from, 16, 0, 0, 0, pes, sync);
  int is_wrong = me > 0 && to[15] != 15;
  shmem_barrier_all();
  shmem_finalize();
  return is_wrong;
}
