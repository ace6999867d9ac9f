/* All PEs tell PE 0 the same: whichever put is the last, nothing differs. */
//# mpi: openshmem
#include <shmem.h>

static int found, one = 1;

int main(void) {
  shmem_init();
  if (shmem_my_pe() % 2 == 0) shmem_int_p(&found, 1, 0);
  else shmem_int_put(&found, &one, 1, 0);
  shmem_barrier_all();
  int is_wrong = shmem_my_pe() == 0 && !found;
  shmem_finalize();
  return is_wrong;
}
