/* A counter that others add to is a variable on the stack. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long sum = 0;
  if (me == 1) {
    shmem_long_atomic_add(&sum, pes, 0); //~ CS-SHM-01 operation ranks=1
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
