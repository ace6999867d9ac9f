/* PE 0 resets a counter by a store, while others may count. */
//# mpi: openshmem
#include <shmem.h>

static long count;

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  if (me == 0) count = 0; //~ CS-RMA-03 access
  shmem_long_atomic_inc(&count, 0); //~ CS-RMA-03 operation
  shmem_barrier_all();
  int is_wrong = me == 0 && count > pes;
  shmem_finalize();
  return is_wrong;
}
