// A PE leaves a barrier out, and waits in MPI for the one that is in it.
//# gpu: 2
//# options: --stuck-after 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  nvshmem_init();
  if (rank == 0) nvshmem_barrier_all(); //~ CS-DLK-01 wait
  MPI_Barrier(MPI_COMM_WORLD); //~ CS-DLK-01 wait
  nvshmem_finalize();
  MPI_Finalize();
  return 0;
}
