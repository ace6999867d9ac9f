/* Memory is freed while a nonblocking operation on a context accesses it. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  char *all = shmem_malloc(4096);
  static char here[4096];
  shmem_ctx_t ctx;
  if (shmem_ctx_create(0, &ctx) != 0) return 1;
  shmem_ctx_putmem_nbi(ctx, all, here, 4096, (me + 1) % pes); //~ CS-SHM-06 operation
  shmem_free(all); //~ CS-SHM-06 access ranks=0,1 count=2
  shmem_ctx_destroy(ctx);
  shmem_finalize();
  return 0;
}
