/* The put has arrived when the get is called. */
//# mpi: openshmem
#include <shmem.h>

static int there[4];

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
  int here[4] = {me, me, me, me}, back[4];
  shmem_int_put(there, here, 4, next);
  shmem_quiet();
  shmem_int_get(back, there, 4, next);
  shmem_barrier_all();
  int is_wrong = back[3] != me;
  shmem_finalize();
  return is_wrong;
}
