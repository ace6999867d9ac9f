/* The result of a nonblocking get is read before shmem_quiet. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  static long there[4];
  long here[4] = {0};
  for (int i = 0; i < 4; i++) there[i] = 10 * me + i;
  shmem_barrier_all();
  shmem_long_get_nbi(here, there, 4, (me + 1) % pes); //~ CS-RMA-02 operation
  long first = here[0]; //~ CS-RMA-02 access ranks=0,1 count=2
  shmem_quiet();
  if (first > 10 * pes) return 1;

  shmem_finalize();
  return 0;
}
