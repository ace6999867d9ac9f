/* Puts, gets and atomics of OpenSHMEM. */
#include <shmem.h>
#include <stdlib.h>

int main(void) {
  setenv("OMPI_MCA_osc", "^rdma", 1); /* else shmem_finalize may crash, see docs/openshmem.md */
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  double here[16] = {0};
  double *heap = shmem_malloc(64 * sizeof *heap);
  long *count = shmem_calloc(1, sizeof *count);
  shmem_barrier_all();
  for (int i = 0; i < 10; i++) shmem_double_put(heap, here, 16, (me + 1) % pes);
  shmem_double_get(here, heap + 32, 8, (me + 1) % pes);
  shmem_long_atomic_add(count, 1, 0);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
