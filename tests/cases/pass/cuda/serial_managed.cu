// Without MPI: the host reads managed memory when a kernel has written it.
//# np: 1
//# mpi: none
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main() {
  int *p;
  cudaMallocManaged(&p, N * sizeof *p);
  p[N - 1] = 0;
  fill<<<1, N>>>(p, 3);
  cudaDeviceSynchronize();
  printf("%d\n", p[N - 1]);
  cudaFree(p);
}
