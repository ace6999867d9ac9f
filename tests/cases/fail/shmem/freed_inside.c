/* A pointer into an allocation is freed. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  char *all = shmem_malloc(256); //~ CS-SHM-05 release
  if (me >= 0) {
    shmem_free(all + 16); //~ CS-SHM-05 operation ranks=0,1 count=2
  }
  shmem_finalize();
  return 0;
}
