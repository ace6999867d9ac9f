/* PEs reduce the same number of elements. */
//# mpi: openshmem
//# options: --stuck-after 1
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  static int dest[8], source[8], work[8 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
  static long sync[SHMEM_REDUCE_SYNC_SIZE];
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) sync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  shmem_int_sum_to_all(dest, source, 8, 0, 0, pes, work, sync);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
