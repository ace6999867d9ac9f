/* A fence orders nothing between two PEs: the flag may be at PE 2 before the data are at PE 1. */
//# mpi: openshmem
//# np: 3
#include <shmem.h>

static long data[8], flag;

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), is_wrong = 0;
  long here[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  if (me == 0) {
    shmem_long_put(data, here, 8, 1); //~ CS-RMA-04 operation
    shmem_fence();
    shmem_long_p(&flag, 1, 2);
  } else if (me == 2) {
    shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
    shmem_long_get(here, data, 8, 1); //~ CS-RMA-04 access
    is_wrong = here[7] < 0;
  }
  shmem_barrier_all();
  shmem_finalize();
  return is_wrong;
}
