/* PEs leave their parts at PE 0 and count themselves, but the parts may arrive later than the
 * count. */
//# mpi: openshmem
//# np: 3
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes(), is_wrong = 0;
  long *parts = shmem_calloc(pes, sizeof *parts), *count = shmem_calloc(1, sizeof *count);
  shmem_barrier_all();
  if (me > 0) {
    shmem_long_p(&parts[me], me, 0); //~ CS-RMA-03 operation
    shmem_long_atomic_inc(count, 0);
  } else {
    shmem_long_wait_until(count, SHMEM_CMP_EQ, pes - 1);
    for (int i = 1; i < pes; i++) is_wrong |= parts[i] < 0; //~ CS-RMA-03 access
  }
  shmem_barrier_all();
  shmem_free(count);
  shmem_free(parts);
  shmem_finalize();
  return is_wrong;
}
