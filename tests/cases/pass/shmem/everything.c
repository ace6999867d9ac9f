/* A call of each kind, as the standard allows it: no finding, and the results are right. */
//# mpi: openshmem
//# np: 3
#include <shmem.h>

enum { COUNT = 16 };

static long values[COUNT], results[3 * COUNT], sum, flag, lock, shared, counter;
static int ints[COUNT];
static double work[COUNT + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long long_work[COUNT + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long syncs[6][SHMEM_REDUCE_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE];
static double reals[COUNT], sums[COUNT];

static int collectives(int me, int pes) {
  for (int i = 0; i < COUNT; i++) values[i] = 100 * me + i, reals[i] = me + 0.5;
  shmem_barrier_all();
  shmem_broadcast64(results, values, COUNT, 1, 0, 0, pes, syncs[0]);
  if (me != 1 && results[2] != 102) return 10;
  shmem_barrier_all();
  shmem_fcollect64(results, values, COUNT, 0, 0, pes, syncs[1]);
  if (results[COUNT * 2] != 200) return 11;
  shmem_barrier_all();
  shmem_collect64(results, values, me + 1, 0, 0, pes, syncs[2]);
  if (results[1] != 100) return 12;
  shmem_barrier_all();
  shmem_double_sum_to_all(sums, reals, COUNT, 0, 0, pes, work, syncs[3]);
  if (sums[3] != 4.5) return 13;
  shmem_long_max_to_all(results, values, 4, 0, 0, pes, long_work, syncs[4]);
  if (results[1] != 201) return 14;
  shmem_barrier_all();
  shmem_alltoall64(results, values, 2, 0, 0, pes, syncs[5]);
  if (results[2] != 100 + 2 * me) return 15;
  shmem_barrier_all();
  if (me % 2 == 0) {
    shmem_barrier(0, 1, 2, syncs[0]);
    shmem_long_sum_to_all(&sum, values, 1, 0, 1, 2, long_work, syncs[3]);
    if (sum != 200) return 16;
  }
  shmem_sync_all();
  return 0;
}

static int atomics(int me, int pes) {
  shmem_long_atomic_inc(&counter, 0);
  shmem_long_atomic_add(&counter, 2, 0);
  shmem_long_atomic_fetch_add(&counter, 3, 0);
  shmem_barrier_all();
  if (shmem_long_atomic_fetch(&counter, 0) != 6 * pes) return 20;
  shmem_barrier_all();
  int next = (me + 1) % pes;
  if (shmem_long_atomic_swap(&shared, 5, next) != 0) return 21;
  if (shmem_long_atomic_compare_swap(&shared, 5, 6, next) != 5) return 22;
  shmem_long_atomic_set(&shared, 9, next);
  shmem_barrier_all();
  if (shared != 9) return 23;
  shmem_set_lock(&lock);
  long now = shmem_long_g(&sum, 0);
  shmem_long_p(&sum, now + 1, 0);
  shmem_quiet();
  shmem_clear_lock(&lock);
  shmem_barrier_all();
  return 0;
}

static int one_sided(int me, int pes) {
  int next = (me + 1) % pes;
  long own[COUNT];
  for (int i = 0; i < COUNT; i++) own[i] = me;
  long *heap = shmem_malloc(COUNT * sizeof(long));
  int *aligned = shmem_align(64, COUNT * sizeof(int)), *zeros = shmem_calloc(COUNT, sizeof(int));
  heap = shmem_realloc(heap, 2 * COUNT * sizeof(long));
  if (!heap || !aligned || !zeros || zeros[3] != 0) return 30;
  shmem_barrier_all();
  shmem_long_put(heap, own, COUNT, next);
  own[0] = -1;
  shmem_fence();
  shmem_long_iput(heap + COUNT, own + 1, 2, 1, 4, next);
  shmem_putmem(aligned, zeros, sizeof(int) * COUNT, next);
  shmem_fence();
  shmem_put32(aligned, zeros, COUNT, next);
  shmem_long_p(&flag, 1, next);
  shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
  shmem_barrier_all();
  if (heap[0] != (me + pes - 1) % pes) return 31;
  long back[COUNT];
  shmem_long_get(back, heap, COUNT, next);
  if (back[1] != me) return 32;
  shmem_int_get(ints, aligned, COUNT, next);
  shmem_long_iget(back, heap + COUNT, 1, 2, 4, next);
  if (shmem_ptr(heap, me) != heap) return 33;
  if (!shmem_addr_accessible(heap, next) || !shmem_pe_accessible(next)) return 34;
  long mine = 0;
  shmem_addr_accessible(&mine, next);
  shmem_barrier_all();
  shmem_ctx_t ctx;
  if (shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx) == 0) {
    shmem_ctx_long_put(ctx, heap, own, COUNT, next);
    shmem_ctx_fence(ctx);
    shmem_ctx_quiet(ctx);
    shmem_ctx_destroy(ctx);
  }
  shmem_barrier_all();
  shmem_free(aligned);
  shmem_free(zeros);
  shmem_free(heap);
  return 0;
}

int main(void) {
  int major, minor;
  shmem_info_get_version(&major, &minor);
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < (int)(sizeof syncs[0] / sizeof syncs[0][0]); j++) syncs[i][j] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  int code = one_sided(me, pes);
  if (code == 0) code = collectives(me, pes);
  if (code == 0) code = atomics(me, pes);
  if (code != 0) shmem_global_exit(code);
  shmem_finalize();
  return 0;
}
