/* A message of MPI tells that a put is complete. */
//# mpi: openshmem
#include <mpi.h>
#include <shmem.h>

static double there[16];

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), is_wrong = 0;
  double here[16] = {[15] = 4.5};
  if (me == 0) {
    shmem_double_put_nbi(there, here, 16, 1);
    shmem_quiet();
    MPI_Send(&me, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (me == 1) {
    int other;
    MPI_Recv(&other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    is_wrong = there[15] != 4.5;
  }
  shmem_barrier_all();
  shmem_finalize();
  return is_wrong;
}
