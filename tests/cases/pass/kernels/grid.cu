// Blocks read what their neighbours have written, after a barrier of the grid.
//# np: 1
//# mpi: none
//# flags: -std=c++17
//# options: --kernel-checks
#include <cooperative_groups.h>

constexpr int BLOCKS = 6, THREADS = 64, N = BLOCKS * THREADS;

__global__ void shift(const int *in, int *between, int *out) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  between[i] = in[i] + 1;
  cooperative_groups::this_grid().sync();
  out[i] = between[(i + 1) % N];
}

int main() {
  static int host[N];
  int *in, *between, *out;
  for (int i = 0; i < N; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&between, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  void *arguments[] = {&in, &between, &out};
  cudaLaunchCooperativeKernel((void *)shift, dim3(BLOCKS), dim3(THREADS), arguments, 0, 0);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(between);
  cudaFree(out);
  for (int i = 0; i < N; ++i)
    if (host[i] != (i + 1) % N + 1) return 1;
  return 0;
}
