// A kernel launched by cudaLaunchKernelEx is not ordered with one in another stream.
//# np: 1
//# mpi: mpich
//# seed: 3
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void increment(int *p) { p[threadIdx.x] += 1; }

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  cudaLaunchConfig_t configuration = {};
  configuration.gridDim = dim3(1);
  configuration.blockDim = dim3(N);
  configuration.stream = second;
  fill<<<1, N, 0, first>>>(p, 1); //~ CS-GPU-01 operation
  cudaLaunchKernelEx(&configuration, increment, p); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  bad = wrong(p, 2);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
