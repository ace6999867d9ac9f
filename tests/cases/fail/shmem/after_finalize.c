/* The number of the PE is asked for after shmem_finalize. */
//# mpi: openshmem
#include <shmem.h>
#include <stdio.h>

int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  shmem_barrier_all();
  shmem_finalize();
  int again = shmem_my_pe(); //~ CS-SHM-08 operation
  printf("%d %d\n", me, again);
  return 0;
}
