/* shmem_barrier_all completes nothing of other contexts. */
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
  shmem_ctx_long_put(ctx, there, here, 8, (me + 1) % pes); //~ CS-RMA-03 operation
  shmem_barrier_all();
  int is_wrong = there[0] < 0; //~ CS-RMA-03 access
  shmem_ctx_destroy(ctx);
  shmem_barrier_all();
  shmem_finalize();
  return is_wrong;
}
