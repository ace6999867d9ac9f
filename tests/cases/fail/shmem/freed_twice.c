/* Memory is freed twice. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long *there = shmem_malloc(64);
  there[0] = me + pes;
  shmem_free(there); //~ CS-SHM-05 release
  shmem_free(there); //~ CS-SHM-05 operation
  shmem_finalize();
  return 0;
}
