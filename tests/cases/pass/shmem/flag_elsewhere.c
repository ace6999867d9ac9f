/* The data are at PE 1 when PE 2 gets the flag: a quiet completes them. */
//# mpi: openshmem
//# np: 3
#include <shmem.h>

static long data[8], flag;

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), is_wrong = 0;
  long here[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  if (me == 0) {
    shmem_long_put(data, here, 8, 1);
    shmem_quiet();
    shmem_long_p(&flag, 1, 2);
  } else if (me == 2) {
    shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
    shmem_long_get(here, data, 8, 1);
    is_wrong = here[7] != 8;
  }
  shmem_barrier_all();
  shmem_finalize();
  return is_wrong;
}
