/* PEs free their allocations in the same order. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long *a = shmem_malloc(64), *b = shmem_malloc(64);
  for (int i = 0; i < 2; i++) {
    shmem_free(i == 0 ? a : b);
  }

  shmem_finalize();
  return 0;
}
