/* PEs free their allocations in different orders. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long *a = shmem_malloc(64), *b = shmem_malloc(64);
  for (int i = 0; i < 2; i++) {
    shmem_free(i == me % 2 ? a : b); //~ CS-SHM-04 access //~ CS-SHM-04 operation
  }

  shmem_finalize();
  return 0;
}
