// One kernel adds atomically to what another in a stream that nothing orders reads plainly.
//# np: 1
//# mpi: openmpi
//# seed: 1
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void count(int *p) { atomicAdd(p, 1); }

__global__ void copy(int *out, const int *in) { out[threadIdx.x] = *in; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *p, *q;
  static int host[N];
  cudaMalloc(&p, sizeof *p);
  cudaMalloc(&q, sizeof host);
  cudaMemset(p, 0, sizeof *p);
  cudaDeviceSynchronize();
  count<<<1, N, 0, first>>>(p); //~ CS-GPU-01 operation
  copy<<<1, N, 0, second>>>(q, p); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  cudaMemcpy(host, q, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i++) bad += host[i] != N;

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
