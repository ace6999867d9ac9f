// One kernel adds atomically to what another reads after it in its stream.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void count(int *p) { atomicAdd(p, 1); }

__global__ void copy(int *out, const int *in) { out[threadIdx.x] = *in; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t first;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  int *p, *q;
  static int host[N];
  cudaMalloc(&p, sizeof *p);
  cudaMalloc(&q, sizeof host);
  cudaMemset(p, 0, sizeof *p);
  cudaDeviceSynchronize();
  count<<<1, N, 0, first>>>(p);
  copy<<<1, N, 0, first>>>(q, p);
  cudaDeviceSynchronize();
  cudaMemcpy(host, q, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i++) bad += host[i] != N;

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
