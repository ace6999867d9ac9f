// cudaMemcpyPeer waits for the work of both devices, and their later work for it.
//# np: 1
//# gpu: 2
//# mpi: openmpi
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
  int *p, *q;
  cudaStreamCreate(&first);
  cudaMalloc(&p, N * sizeof *p);
  fill<<<1, N, 0, first>>>(p, 6);
  cudaSetDevice(1);
  cudaStreamCreate(&second);
  cudaMalloc(&q, N * sizeof *q);
  cudaMemcpyPeer(q, 1, p, 0, N * sizeof *p);
  increment<<<1, N, 0, second>>>(q);
  cudaSetDevice(0);
  fill<<<1, N, 0, first>>>(p, 0);
  cudaDeviceSynchronize();
  cudaSetDevice(1);
  cudaDeviceSynchronize();
  bad = wrong(q, 7);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
