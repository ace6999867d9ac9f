// Blocks of a kernel put a field to the next PE, where nothing can be found by the
// address of memory of cudaMalloc.
//# gpu: 2
//# flags: -lnvshmem_host
#define NVSHMEM_IN_KERNELS
#include "../../../headers/nvshmem.h"
#include <mpi.h>

constexpr int N = 96;

__global__ void send(float *field, const float *values, int pe) {
  nvshmemx_float_put_nbi_block(field, values, N, pe);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  cudaSetDevice(rank);
  nvshmem_init();
  float *field, *values, host[N];
  cudaMalloc(&field, N * sizeof(float)); //~ CS-SHM-01 operation
  cudaMalloc(&values, N * sizeof(float));
  for (float &value : host) value = (float)rank;
  cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
  nvshmem_barrier_all();
  send<<<1, 32>>>(field, values, (rank + 1) % ranks); //~ CS-SHM-01 access
  cudaDeviceSynchronize();
  nvshmem_barrier_all();
  cudaMemcpy(host, field, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(values);
  nvshmem_finalize();
  MPI_Finalize();
  return 0;
}
