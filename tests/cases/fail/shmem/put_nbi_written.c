/* The source of a nonblocking put is written before shmem_quiet. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  static double there[64];
  double here[64];
  for (int i = 0; i < 64; i++) here[i] = me;
  shmem_double_put_nbi(there, here, 64, (me + 1) % pes); //~ CS-RMA-01 operation
  here[0] = 7; //~ CS-RMA-01 access ranks=0,1 count=2
  shmem_quiet();
  shmem_barrier_all();
  if (there[1] != (me + 1) % pes) return 1;
  shmem_finalize();
  return 0;
}
