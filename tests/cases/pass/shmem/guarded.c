/* Code that nobody has recompiled uses buffers of nonblocking operations after shmem_quiet. */
//# mpi: openshmem
//# hooks: none
//# options: --guards --guard-budget 100
#include <shmem.h>
#include <stdlib.h>

enum { COUNT = 1 << 18 };

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  size_t size = COUNT * sizeof(double);
  double *there = shmem_malloc(size), *out = malloc(size), *in = malloc(size);
  for (int i = 0; i < COUNT; i++) out[i] = there[i] = i;
  shmem_barrier_all();
  shmem_double_put_nbi(there, out, COUNT, (me + 1) % pes);
  shmem_quiet();
  out[COUNT / 2] = 7;
  shmem_double_get_nbi(in, there, COUNT, (me + 1) % pes);
  shmem_quiet();
  double sum = in[COUNT / 2];
  shmem_barrier_all();
  free(out);
  free(in);
  shmem_free(there);
  if (sum < 0) return 1;
  shmem_finalize();
  return 0;
}
