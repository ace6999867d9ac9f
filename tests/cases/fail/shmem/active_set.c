/* A PE calls a barrier of an active set that it does not belong to. */
//# mpi: openshmem
//# options: --stuck-after 1
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  static long sync[SHMEM_BARRIER_SYNC_SIZE];
  for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++) sync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  if (me == pes - 1) {
    shmem_barrier(0, 0, pes - 1, sync); //~ CS-SHM-03 operation ranks=1
  }
  shmem_finalize();
  return 0;
}
