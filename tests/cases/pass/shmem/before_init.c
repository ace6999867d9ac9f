/* The version is asked for before shmem_init, the number of PEs after it. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  int major, minor;
  shmem_info_get_version(&major, &minor);
  shmem_init();
  int pes = shmem_n_pes();
  shmem_barrier_all();
  shmem_finalize();
  return pes < 0;
}
