/* Rows of a matrix, allocated in a loop and left to shmem_finalize like all else. */
//# mpi: openshmem
#include <shmem.h>

int main(void) {
  shmem_init();
  long *rows[8];
  for (int i = 0; i < 8; i++) rows[i] = shmem_malloc(64);
  shmem_long_p(rows[7], 1, 0);
  shmem_barrier_all();
  int is_wrong = shmem_my_pe() == 0 && *rows[7] != 1;
  shmem_finalize();
  return is_wrong;
}
