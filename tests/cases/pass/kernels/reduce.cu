// A sum in shared memory, with a barrier before each step.
//# np: 1
//# mpi: none
//# options: --kernel-checks
#include <cstdio>

constexpr int N = 256;

__global__ void sum(const int *in, int *out) {
  __shared__ int part[N];
  part[threadIdx.x] = in[threadIdx.x];
  for (int half = N / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *out = part[0];
}

int main() {
  int host[N], *in, *out, result;
  for (int i = 0; i < N; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof *out);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<1, N>>>(in, out);
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  printf("%d\n", result);
  cudaFree(in);
  cudaFree(out);
  return result != N * (N - 1) / 2;
}
