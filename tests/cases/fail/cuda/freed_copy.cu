// Memory is copied from after cudaFree.
//# np: 1
//# mpi: openmpi
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

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  int *q;
  cudaMalloc(&q, N * sizeof *q);
  fill<<<1, N>>>(p, 3);
  cudaDeviceSynchronize();
  cudaFree(p); //~ CS-GPU-06 release
  cudaMemcpyAsync(q, p, N * sizeof *p, cudaMemcpyDeviceToDevice, stream); //~ CS-GPU-06 access
  cudaStreamSynchronize(stream);
  bad = wrong(q, 3);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
