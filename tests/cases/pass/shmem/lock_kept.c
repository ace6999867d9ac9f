/* A PE releases the lock before the barrier. */
//# mpi: openshmem
//# options: --stuck-after 1
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  static long lock, turn;
  if (me == 0) {
    shmem_set_lock(&lock);
    shmem_long_p(&turn, pes, 1);
    shmem_clear_lock(&lock);
  } else {
    shmem_long_wait_until(&turn, SHMEM_CMP_EQ, pes);
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
