// Threads copy asynchronously to shared memory, and read before the copies are complete.
//# np: 1
//# mpi: none
//# options: --kernel-checks
#include <cuda_pipeline.h>

constexpr int N = 128;

__global__ void reverse(const int *in, int *out) {
  __shared__ int tile[N];
  int i = threadIdx.x;
  __pipeline_memcpy_async(&tile[i], &in[i], sizeof(int)); //~ CS-KRN-01 cause
  __pipeline_commit();
  __syncthreads();
  out[i] = tile[N - 1 - i]; //~ CS-KRN-01 cause
}

int main() {
  int host[N], *in, *out;
  for (int i = 0; i < N; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<1, N>>>(in, out); //~ CS-KRN-01 access
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
