// Without MPI: the host reads managed memory while a kernel writes it.
//# np: 1
//# mpi: none
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main() {
  int *p;
  cudaMallocManaged(&p, N * sizeof *p);
  p[N - 1] = 0;
  fill<<<1, N>>>(p, 3); //~ CS-GPU-02 operation
  printf("%d\n", p[N - 1]); //~ CS-GPU-02 access
  cudaDeviceSynchronize();
  cudaFree(p);
}
