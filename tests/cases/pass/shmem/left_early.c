/* All PEs call the barrier before shmem_finalize. */
//# mpi: openshmem
//# options: --stuck-after 1
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  if (me >= 0) shmem_barrier_all();
  shmem_finalize();
  return 0;
}
