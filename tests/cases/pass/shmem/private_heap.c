/* Memory of shmem_malloc is put to on the other PE. */
//# mpi: openshmem
#include <shmem.h>
#include <stdlib.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long here = me, *there = shmem_malloc(sizeof here);
  shmem_long_put(there, &here, 1, (me + 1) % pes);
  shmem_barrier_all();
  shmem_free(there);
  shmem_finalize();
  return 0;
}
