/* The number of the PE is kept in a variable. */
//# mpi: openshmem
#include <shmem.h>
#include <stdio.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  shmem_barrier_all();
  shmem_finalize();
  int again = me;
  printf("%d %d\n", me, again);
  return 0;
}
