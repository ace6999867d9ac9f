/* A broadcast uses the work array of the one before, from which all PEs have returned. */
//# mpi: openshmem
#include <shmem.h>

static long sync[SHMEM_BCAST_SYNC_SIZE], data[2];

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++) sync[i] = SHMEM_SYNC_VALUE;
  long first = me + 7, second = me + 8;
  long *all = shmem_malloc(2 * sizeof *all);
  all[0] = first, all[1] = second;
  shmem_barrier_all();
  shmem_broadcast64(&data[0], &all[0], 1, 0, 0, 0, pes, sync);
  shmem_barrier_all();
  shmem_broadcast64(&data[1], &all[1], 1, 0, 0, 0, pes, sync);
  shmem_barrier_all();
  int is_wrong = me > 0 && data[0] != 7;
  shmem_free(all);
  shmem_finalize();
  return is_wrong;
}
