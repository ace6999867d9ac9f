/* A PE waits for a variable that the other one sets before the barrier. */
//# mpi: openshmem
//# options: --stuck-after 1
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  static long flag;
  if (me == 0) {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
  } else {
    shmem_long_p(&flag, 1, 0);
  }
  shmem_barrier_all();

  shmem_finalize();
  return 0;
}
