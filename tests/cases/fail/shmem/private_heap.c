/* Memory of malloc is put to on the other PE. */
//# mpi: openshmem
#include <shmem.h>
#include <stdlib.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long here = me, *there = malloc(sizeof here);
  shmem_long_put(there, &here, 1, (me + 1) % pes); //~ CS-SHM-01 operation
  shmem_barrier_all();
  free(there);
  shmem_finalize();
  return 0;
}
