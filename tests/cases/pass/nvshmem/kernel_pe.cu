// Each PE of a line passes on to the next one how many there are, in a kernel.
//# gpu: 2
//# flags: -lnvshmem_host
#define NVSHMEM_IN_KERNELS
#include "../../../headers/nvshmem.h"
#include <mpi.h>

__global__ void pass_on(int *from) {
  int me = nvshmem_my_pe();
  if (me + 1 < nvshmem_n_pes()) nvshmem_int_p(from, me + 1, me + 1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  nvshmem_init();
  int *from = (int *)nvshmem_calloc(1, sizeof(int)), got = -1;
  nvshmem_barrier_all();
  pass_on<<<1, 1>>>(from);
  cudaDeviceSynchronize();
  nvshmem_barrier_all();
  cudaMemcpy(&got, from, sizeof got, cudaMemcpyDeviceToHost);
  nvshmem_finalize();
  MPI_Finalize();
  return got != rank;
}
