// Each PE of a line passes its number on to the next one, in a kernel.
//# gpu: 2
//# flags: -lnvshmem_host
#define NVSHMEM_IN_KERNELS
#include "../../../headers/nvshmem.h"
#include <mpi.h>

__global__ void pass_on(int *from) {
  int me = nvshmem_my_pe();
  if (me + 1 < nvshmem_n_pes()) nvshmem_int_p(from, me, me + 1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  nvshmem_init();
  int *from = (int *)nvshmem_malloc(sizeof(int)), got = -1;
  cudaMemset(from, 0xff, sizeof(int));
  nvshmem_barrier_all();
  pass_on<<<1, 1>>>(from);
  cudaDeviceSynchronize();
  nvshmem_barrier_all();
  cudaMemcpy(&got, from, sizeof got, cudaMemcpyDeviceToHost);
  nvshmem_finalize();
  MPI_Finalize();
  return got != rank - 1;
}
