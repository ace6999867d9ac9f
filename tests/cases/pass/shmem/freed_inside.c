/* The pointer that shmem_malloc has returned is freed. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  char *all = shmem_malloc(256);
  shmem_free(all);
  shmem_free(NULL);
  shmem_finalize();
  return 0;
}
