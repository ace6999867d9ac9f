// memset writes what cudaMemcpyAsync may still be reading.
//# np: 1
//# mpi: openmpi
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>
#include <cstring>

constexpr int N = 256;

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
  int *host;
  cudaHostAlloc(&host, N * sizeof *host, cudaHostAllocDefault);
  memset(host, 0, N * sizeof *host);
  cudaMemcpyAsync(p, host, N * sizeof *p, cudaMemcpyDefault, stream); //~ CS-GPU-02 operation
  memset(host, 1, N * sizeof *host); //~ CS-GPU-02 access
  cudaDeviceSynchronize();
  bad = wrong(p, 0);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
