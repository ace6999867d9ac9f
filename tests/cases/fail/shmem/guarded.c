/* Code that nobody has recompiled uses buffers of nonblocking operations before shmem_quiet. */
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
  shmem_double_put_nbi(there, out, COUNT, (me + 1) % pes); //~ CS-RMA-01 operation
  out[COUNT / 2] = 7; //~ CS-RMA-01 access ranks=0,1 count=2
  shmem_quiet();
  shmem_double_get_nbi(in, there, COUNT, (me + 1) % pes); //~ CS-RMA-02 operation
  double sum = in[COUNT / 2]; //~ CS-RMA-02 access ranks=0,1 count=2
  shmem_quiet();
  shmem_barrier_all();
  free(out);
  free(in);
  shmem_free(there);
  if (sum < 0) return 1;
  shmem_finalize();
  return 0;
}
