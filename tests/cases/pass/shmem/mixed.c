/* MPI and OpenSHMEM in one program: both see their own operations, and neither is ended by the
 * other. */
//# mpi: openshmem
#include <mpi.h>
#include <shmem.h>

static long there[32];

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes(), rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != me) return 1;
  long here[32], other = -1;
  for (int i = 0; i < 32; i++) here[i] = me;
  MPI_Request request;
  MPI_Irecv(&other, 1, MPI_LONG, (me + 1) % pes, 0, MPI_COMM_WORLD, &request);
  shmem_long_put_nbi(there, here, 32, (me + 1) % pes);
  MPI_Send(here, 1, MPI_LONG, (me + pes - 1) % pes, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  shmem_barrier_all();
  here[0] = 0;
  if (other != (me + 1) % pes || there[31] != (me + pes - 1) % pes) return 2;
  shmem_finalize();
  return 0;
}
