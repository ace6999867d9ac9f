/* A token goes round twice, by flags and by atomics, a counter is fetched at another PE and tested,
   and locks are tried: whoever waits for what another one has stored comes after what that has
   done. */
//# mpi: openshmem
//# np: 3
#include <shmem.h>

static long token, box[4], turn, counter, lock, guarded;

static int ring(int me, int pes) {
  int next = (me + 1) % pes, before = (me + pes - 1) % pes;
  for (long round = 1; round <= 2; round++) {
    if (me > 0 || round > 1) {
      shmem_long_wait_until(&token, SHMEM_CMP_GE, me > 0 ? round : round - 1);
      if (box[0] != before) return 1;
      box[1] = box[0]; /* what it has got is its own now */
    }
    long mine[1] = {me};
    shmem_long_put(box, mine, 1, next);
    shmem_fence();
    shmem_long_p(&token, round, next);
  }
  if (me == 0) shmem_long_wait_until(&token, SHMEM_CMP_GE, 2);
  shmem_barrier_all();
  return 0;
}

static int turns(int me, int pes) {
  while (shmem_long_atomic_fetch(&turn, 0) != me) continue;
  long all = shmem_long_g(&box[2], 0);
  shmem_long_p(&box[2], all + 1, 0);
  shmem_quiet();
  shmem_long_atomic_inc(&turn, 0);
  shmem_barrier_all();
  return me == 0 && box[2] != pes ? 2 : 0;
}

static int counted(int me, int pes) {
  shmem_long_p(&box[3], me, (me + 1) % pes);
  shmem_quiet();
  for (int pe = 0; pe < pes; pe++) shmem_long_atomic_add(&counter, 1, pe);
  /* Open MPI 4 makes no progress in shmem_test, so that polling hangs. */
  shmem_long_wait_until(&counter, SHMEM_CMP_EQ, pes);
  if (!shmem_long_test(&counter, SHMEM_CMP_EQ, pes)) return 5;
  if (box[3] != (me + pes - 1) % pes) return 3;
  shmem_barrier_all();
  return 0;
}

static int locked(int me, int pes) {
  for (int i = 0; i < 3; i++) {
    if (shmem_test_lock(&lock) != 0) shmem_set_lock(&lock);
    long now = shmem_long_g(&guarded, 1);
    shmem_long_p(&guarded, now + 1, 1);
    shmem_clear_lock(&lock); /* completes the put */
  }
  shmem_barrier_all();
  return me == 1 && guarded != 3 * pes ? 4 : 0;
}

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  int code = ring(me, pes);
  if (code == 0) code = turns(me, pes);
  if (code == 0) code = counted(me, pes);
  if (code == 0) code = locked(me, pes);
  if (code != 0) shmem_global_exit(code);
  shmem_finalize();
  return 0;
}
