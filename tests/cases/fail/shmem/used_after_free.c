/* A PE puts to memory that was freed. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long *there = shmem_malloc(64);
  shmem_free(there); //~ CS-SHM-01 release
  shmem_long_p(there, me, (me + 1) % pes); //~ CS-SHM-01 operation
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
