/* The number of PEs is asked for before shmem_init. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  int pes = shmem_n_pes(); //~ CS-SHM-08 operation
  shmem_init();
  shmem_barrier_all();
  shmem_finalize();
  return pes < 0;
}
