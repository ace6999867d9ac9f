/* All PEs update a sum with a lock. */
//# mpi: openshmem
#include <shmem.h>

static long lock, sum;

static void add(long what) {
  shmem_long_p(&sum, shmem_long_g(&sum, 0) + what, 0);
}

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  shmem_set_lock(&lock);
  add(me == 1 ? 2 : 1);
  shmem_clear_lock(&lock);
  shmem_barrier_all();
  int is_wrong = me == 0 && sum != pes + 1;
  shmem_finalize();
  return is_wrong;
}
