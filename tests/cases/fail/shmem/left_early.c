/* A PE goes to shmem_finalize while the others wait in a barrier. */
//# mpi: openshmem
//# options: --stuck-after 1
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  if (me != 0) shmem_barrier_all(); //~ CS-COL-06 operation
  shmem_finalize(); //~ CS-COL-06 access
  return 0;
}
