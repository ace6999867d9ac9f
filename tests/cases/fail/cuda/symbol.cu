// A constant is set in one stream while a kernel reads it in another.
//# np: 1
//# mpi: mpich
//# seed: 3
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

__device__ int factor;

__global__ void constant(int *p) { p[threadIdx.x] = factor; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  int *source;
  cudaMallocHost(&source, sizeof *source);
  *source = 5;
  cudaMemcpyToSymbolAsync(factor, source, sizeof *source, 0, cudaMemcpyHostToDevice, first); //~ CS-GPU-01 operation
  constant<<<1, N, 0, second>>>(p); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  bad = wrong(p, 5);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
