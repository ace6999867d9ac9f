/* A barrier of MPI tells the others that puts of OpenSHMEM are complete. */
//# mpi: openshmem
#include <mpi.h>
#include <shmem.h>

static long there[32];

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  long here[32];
  for (int i = 0; i < 32; i++) here[i] = me;
  shmem_long_put(there, here, 32, (me + 1) % pes);
  shmem_quiet();
  MPI_Barrier(MPI_COMM_WORLD);
  int is_wrong = there[31] != (me + pes - 1) % pes;
  shmem_barrier_all();
  shmem_finalize();
  return is_wrong;
}
