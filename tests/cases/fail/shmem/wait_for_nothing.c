/* A PE waits for a variable that no PE sets, since the other one has left for a barrier. */
//# mpi: openshmem
//# options: --stuck-after 1
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  static long flag;
  if (me == 0) {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1); //~ CS-DLK-01 wait
  }
  shmem_barrier_all(); //~ CS-DLK-01 wait

  shmem_finalize();
  return 0;
}
