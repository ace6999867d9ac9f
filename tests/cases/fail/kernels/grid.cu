// Blocks read what their neighbours have written, though only their own threads have waited.
//# np: 1
//# mpi: none
//# flags: -std=c++17
//# options: --kernel-checks
#include <cooperative_groups.h>

constexpr int BLOCKS = 6, THREADS = 64, N = BLOCKS * THREADS;

__global__ void shift(const int *in, int *between, int *out) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  between[i] = in[i] + 1; //~ CS-KRN-01 cause
  __syncthreads();
  out[i] = between[(i + 1) % N]; //~ CS-KRN-01 cause
}

int main() {
  static int host[N];
  int *in, *between, *out;
  for (int i = 0; i < N; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&between, sizeof host); //~ CS-KRN-01 operation
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  void *arguments[] = {&in, &between, &out};
  cudaLaunchCooperativeKernel((void *)shift, dim3(BLOCKS), dim3(THREADS), arguments, 0, 0); //~ CS-KRN-01 access
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(between);
  cudaFree(out);
  return 0;
}
