// Nobody has initialised the barrier object.
//# np: 1
//# mpi: none
//# flags: -std=c++17
//# options: --kernel-checks
#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void count(const int *in, int *out) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  out[threadIdx.x] = in[threadIdx.x];
  (void)barrier.arrive(); //~ CS-KRN-03 cause
}

int main() {
  int host[32], *in, *out;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  count<<<1, 32>>>(in, out); //~ CS-KRN-03 access
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
