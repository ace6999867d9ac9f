// Warps pass values by a barrier object, at which those wait that read.
//# np: 1
//# mpi: none
//# flags: -std=c++17
//# options: --kernel-checks
#include <cuda/barrier>

constexpr int N = 96;

__global__ void rotate(int *data) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  __shared__ int all[N];
  int i = threadIdx.x;
  if (i == 0) init(&barrier, N);
  __syncthreads();
  all[i] = data[i];
  auto token = barrier.arrive();
  barrier.wait(std::move(token));
  data[i] = all[(i + 40) % N];
}

int main() {
  int host[N], *data;
  for (int i = 0; i < N; ++i) host[i] = i;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  rotate<<<1, N>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  for (int i = 0; i < N; ++i)
    if (host[i] != (i + 40) % N) return 1;
  return 0;
}
