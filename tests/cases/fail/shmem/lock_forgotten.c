/* PE 1 updates without the lock what the others update with it. */
//# mpi: openshmem
#include <shmem.h>

static long lock, sum;

static void add(long what) {
  shmem_long_p(&sum, shmem_long_g(&sum, 0) + what, 0); //~ CS-RMA-04 operation //~ CS-RMA-04 access
}

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  if (me == 1) {
    add(2);
  } else {
    shmem_set_lock(&lock);
    add(1);
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  int is_wrong = me == 0 && sum > pes + 1;
  shmem_finalize();
  return is_wrong;
}
