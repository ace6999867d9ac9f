// Kernels in two streams add to the same elements atomically, which needs no order.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void count(int *p) { atomicAdd(&p[threadIdx.x % 8], 1); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *p, host[8];
  cudaMalloc(&p, sizeof host);
  cudaMemset(p, 0, sizeof host);
  cudaDeviceSynchronize();
  count<<<1, N, 0, first>>>(p);
  count<<<1, N, 0, second>>>(p);
  cudaDeviceSynchronize();
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 8; i++) bad += host[i] != N / 4;

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
