/* The last PE puts to the one behind it, which does not exist. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  static long there;
  if (me + 1 < pes)
    shmem_long_p(&there, me, me + 1);
  else
    shmem_long_p(&there, me, me + 1); //~ CS-SHM-03 operation ranks=1

  shmem_finalize();
  return 0;
}
