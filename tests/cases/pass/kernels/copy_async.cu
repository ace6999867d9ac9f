// Threads copy asynchronously to shared memory, wait for their copies, and then for each other.
//# np: 1
//# mpi: none
//# options: --kernel-checks
#include <cuda_pipeline.h>

constexpr int N = 128;

__global__ void reverse(const int *in, int *out) {
  __shared__ int tile[N];
  int i = threadIdx.x;
  __pipeline_memcpy_async(&tile[i], &in[i], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[i] = tile[N - 1 - i];
}

int main() {
  int host[N], *in, *out;
  for (int i = 0; i < N; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<1, N>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  for (int i = 0; i < N; ++i)
    if (host[i] != N - 1 - i) return 1;
  return 0;
}
