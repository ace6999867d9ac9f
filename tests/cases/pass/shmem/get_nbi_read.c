/* The result of a nonblocking get is read after shmem_quiet, shmem_barrier_all or
 * shmem_ctx_destroy. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  static long there[4];
  long here[4] = {0};
  for (int i = 0; i < 4; i++) there[i] = 10 * me + i;
  shmem_barrier_all();
  int next = (me + 1) % pes;
  shmem_long_get_nbi(here, there, 4, next);
  shmem_quiet();
  if (here[3] != 10 * next + 3) return 1;
  shmem_long_get_nbi(here, there + 1, 2, next);
  shmem_barrier_all();
  if (here[0] != 10 * next + 1) return 2;
  shmem_ctx_t ctx;
  if (shmem_ctx_create(0, &ctx) == 0) {
    shmem_ctx_long_get_nbi(ctx, here, there + 2, 2, next);
    shmem_ctx_destroy(ctx);
    if (here[0] != 10 * next + 2) return 3;
  }

  shmem_finalize();
  return 0;
}
