// A stream made with cudaStreamNonBlocking does not wait for the default stream.
//# np: 1
//# mpi: openmpi
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

  cudaStream_t stream;
  cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  fill<<<1, N>>>(p, 1); //~ CS-GPU-01 operation
  increment<<<1, N, 0, stream>>>(p); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  bad = wrong(p, 2);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
