/* A PE waits in a barrier with a lock that the other one waits for. */
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
  } else {
    shmem_long_wait_until(&turn, SHMEM_CMP_EQ, pes);
    shmem_set_lock(&lock); //~ CS-DLK-01 wait
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all(); //~ CS-DLK-01 wait
  if (me == 0) shmem_clear_lock(&lock);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
