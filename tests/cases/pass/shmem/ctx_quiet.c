/* An operation on a context is completed by shmem_ctx_quiet. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  static int there[1024];
  static int here[1024];
  shmem_ctx_t ctx;
  if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0) return 1;
  shmem_ctx_int_put_nbi(ctx, there, here, 1024, (me + 1) % pes);
  shmem_ctx_quiet(ctx);
  here[5] = 1;
  shmem_ctx_destroy(ctx);
  shmem_finalize();
  return 0;
}
