/* Reductions of a loop share their work arrays, though PEs may still be in the one before. */
//# mpi: openshmem
#include <shmem.h>

static long sync[SHMEM_REDUCE_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], from[4], to[4];

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) sync[i] = SHMEM_SYNC_VALUE;
  for (int i = 0; i < 4; i++) from[i] = me;
  shmem_barrier_all();
  for (int i = 0; i < 4; i++) {
    shmem_long_max_to_all(&to[i], &from[i], 1, 0, 0, pes, work, sync); //~ CS-SHM-09 operation //~ CS-SHM-09 release
  }
  shmem_barrier_all();
  int is_wrong = to[0] != pes - 1;
  shmem_finalize();
  return is_wrong;
}
