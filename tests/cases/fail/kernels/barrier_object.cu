// Warps pass values by a barrier object: who has only arrived there reads too early.
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
  all[i] = data[i]; //~ CS-KRN-01 cause
  auto token = barrier.arrive();
  data[i] = all[(i + 40) % N]; //~ CS-KRN-01 cause
  barrier.wait(std::move(token));
}

int main() {
  int host[N], *data;
  for (int i = 0; i < N; ++i) host[i] = i;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  rotate<<<1, N>>>(data); //~ CS-KRN-01 access
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  return 0;
}
