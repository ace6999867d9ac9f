// One warp fills a buffer for another, and waits until the other has read it.
//# np: 1
//# mpi: none
//# options: --kernel-checks
constexpr int ROUNDS = 5;

__device__ void arrive(int barrier) { asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory"); }
__device__ void wait(int barrier) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }

__global__ void pass(const int *in, int *out) {
  __shared__ int buffer[32];
  int lane = threadIdx.x % 32;
  for (int round = 0; round < ROUNDS; ++round) {
    if (threadIdx.x < 32) {
      if (round > 0) wait(2);
      buffer[lane] = in[round * 32 + lane];
      arrive(1);
    } else {
      wait(1);
      out[round * 32 + lane] = buffer[31 - lane];
      if (round < ROUNDS - 1) arrive(2);
    }
  }
}

int main() {
  static int host[ROUNDS * 32];
  int *in, *out;
  for (int i = 0; i < ROUNDS * 32; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  pass<<<1, 64>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  for (int i = 0; i < ROUNDS * 32; ++i)
    if (host[i] != i / 32 * 32 + 31 - i % 32) return 1;
  return 0;
}
