/* A message of MPI tells that a put was called, but not that it has arrived. */
//# mpi: openshmem
#include <mpi.h>
#include <shmem.h>

static double there[16];

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), is_wrong = 0;
  double here[16] = {[15] = 4.5};
  if (me == 0) {
    shmem_double_put_nbi(there, here, 16, 1); //~ CS-RMA-03 operation
    MPI_Send(&me, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    shmem_quiet();
  } else if (me == 1) {
    int other;
    MPI_Recv(&other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    is_wrong = there[15] < 0; //~ CS-RMA-03 access
  }
  shmem_barrier_all();
  shmem_finalize();
  return is_wrong;
}
