/* A fence orders the data before the flag. */
//# mpi: openshmem
#include <shmem.h>

static long data[64], flag;

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), is_wrong = 0;
  long here[64];
  for (int i = 0; i < 64; i++) here[i] = i;
  if (me == 0) {
    shmem_long_put(data, here, 64, 1);
    shmem_fence();
    shmem_long_p(&flag, 1, 1);
  } else if (me == 1) {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    is_wrong = data[63] != 63;
  }
  shmem_barrier_all();
  shmem_finalize();
  return is_wrong;
}
