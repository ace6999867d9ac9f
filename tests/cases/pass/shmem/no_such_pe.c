/* The last PE puts to the first one. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  static long there;
  shmem_long_p(&there, me, (me + 1) % pes);

  shmem_finalize();
  return 0;
}
