/* The last element of a strided put is the last of the allocation. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  int next = (me + 1) % pes;
  static short here[4];
  short *all = shmem_calloc(10, sizeof(short));
  shmem_short_iput(all, here, 3, 1, 4, next);
  shmem_barrier_all();
  shmem_free(all);
  shmem_finalize();
  return 0;
}
