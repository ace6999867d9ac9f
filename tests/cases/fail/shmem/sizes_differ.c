/* PEs allocate different amounts. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long *field = shmem_malloc((me + 1) * 64); //~ CS-SHM-04 access //~ CS-SHM-04 operation
  shmem_barrier_all();
  shmem_free(field);
  shmem_finalize();
  return 0;
}
