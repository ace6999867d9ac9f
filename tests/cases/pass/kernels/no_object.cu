// One thread initialises the barrier object, whose memory is used for something else afterwards.
//# np: 1
//# mpi: none
//# flags: -std=c++17
//# options: --kernel-checks
#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void count(const int *in, int *out) {
  __shared__ alignas(Barrier) long long memory;
  auto *barrier = reinterpret_cast<Barrier *>(&memory);
  if (threadIdx.x == 0) init(barrier, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 3; ++round) barrier->arrive_and_wait();
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier->~Barrier();
    memory = in[1];
  }
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x] + memory;
}

int main() {
  int host[32], *in, *out;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  count<<<1, 32>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
