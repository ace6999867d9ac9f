/* A put that is longer than the allocation at the other PE, and one with strides that leaves it. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  int next = (me + 1) % pes;
  static long here[16];
  long *all = shmem_malloc(12 * sizeof(long)); //~ CS-SHM-02 release
  shmem_long_put(all + 8, here, 8, next); //~ CS-SHM-02 operation ranks=0,1 count=2
  shmem_barrier_all();
  shmem_free(all);
  shmem_finalize();
  return 0;
}
