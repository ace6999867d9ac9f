// A variable of the device is read by cudaMemcpyFromSymbolAsync while a kernel writes it.
//# np: 1
//# mpi: openmpi
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__device__ int total;

__global__ void count() { atomicAdd(&total, 1); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *result;
  cudaMallocHost(&result, sizeof *result);
  count<<<1, N, 0, first>>>(); //~ CS-GPU-01 operation
  cudaMemcpyFromSymbolAsync(result, total, sizeof *result, 0, cudaMemcpyDeviceToHost, second); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  bad = *result != N;

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
