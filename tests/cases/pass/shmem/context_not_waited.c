/* Each context is waited for, then all PEs meet. */
//# mpi: openshmem
#include <shmem.h>

static long there[8];

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  shmem_ctx_t ctx;
  if (shmem_ctx_create(0, &ctx) != 0) shmem_global_exit(0);
  long here[8];
  for (int i = 0; i < 8; i++) here[i] = me;
  shmem_ctx_long_put(ctx, there, here, 8, (me + 1) % pes);
  shmem_ctx_quiet(ctx);
  shmem_barrier_all();
  int is_wrong = there[0] != (me + pes - 1) % pes;
  shmem_ctx_destroy(ctx);
  shmem_barrier_all();
  shmem_finalize();
  return is_wrong;
}
