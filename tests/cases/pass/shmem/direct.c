/* PEs of a node load from and store to each other's memory, by shmem_ptr, and tell each other by
   such stores: commsan does not follow these, and reports nothing that they may order. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), is_wrong = 0;
  long *all = shmem_calloc(16, sizeof *all), *flag = shmem_calloc(1, sizeof *flag);
  shmem_barrier_all();
  if (me < 2) {
    long *theirs = shmem_ptr(flag, 1 - me);
    if (me == 0) {
      for (int i = 0; i < 16; i++) shmem_long_p(&all[i], i, 1);
      shmem_quiet();
      if (theirs) __atomic_store_n(theirs, 1, __ATOMIC_RELEASE);
      else shmem_long_p(flag, 1, 1);
    } else {
      shmem_long_wait_until(flag, SHMEM_CMP_EQ, 1);
      for (int i = 0; i < 16; i++) is_wrong |= all[i] != i;
    }
  }
  shmem_barrier_all();
  shmem_finalize();
  return is_wrong;
}
