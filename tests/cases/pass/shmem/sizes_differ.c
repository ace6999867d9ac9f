/* PEs allocate the same amounts, in the same order. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long *field = shmem_malloc((pes + 1) * 64);
  shmem_barrier_all();
  shmem_free(field);
  shmem_finalize();
  return 0;
}
