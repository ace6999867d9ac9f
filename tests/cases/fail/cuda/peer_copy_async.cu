// cudaMemcpyPeerAsync is ordered by its stream alone.
//# np: 1
//# gpu: 2
//# mpi: mpich
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

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
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaMalloc(&p, N * sizeof *p);
  cudaSetDevice(1);
  cudaMalloc(&q, N * sizeof *q);
  cudaSetDevice(0);
  fill<<<1, N, 0, first>>>(p, 6); //~ CS-GPU-01 operation
  cudaMemcpyPeerAsync(q, 1, p, 0, N * sizeof *p, second); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  bad = wrong(q, 6);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
