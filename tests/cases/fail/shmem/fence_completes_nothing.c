/* A fence orders what follows at the same PE; it completes nothing, and neither does
 * shmem_sync_all. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long *data = shmem_calloc(16, sizeof *data), here[16];
  for (int i = 0; i < 16; i++) here[i] = me;
  shmem_barrier_all();
  shmem_long_put(data, here, 16, (me + 1) % pes); //~ CS-RMA-03 operation
  shmem_fence();
  shmem_sync_all();
  int is_wrong = data[3] < 0; //~ CS-RMA-03 access
  shmem_barrier_all();
  shmem_free(data);
  shmem_finalize();
  return is_wrong;
}
