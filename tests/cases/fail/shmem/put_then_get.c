/* A put may arrive after a get that follows it. */
//# mpi: openshmem
#include <shmem.h>

static int there[4];

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
  int here[4] = {me, me, me, me}, back[4];
  shmem_int_put(there, here, 4, next); //~ CS-RMA-04 operation
  shmem_int_get(back, there, 4, next); //~ CS-RMA-04 access
  shmem_barrier_all();
  int is_wrong = back[3] != me && back[3] != 0;
  shmem_finalize();
  return is_wrong;
}
