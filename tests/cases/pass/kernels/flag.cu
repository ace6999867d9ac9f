// A warp waits for a flag in shared memory, with fences for the block on both sides.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void pass(const int *in, int *out) {
  __shared__ int value;
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = in[0] * 2;
    __threadfence_block();
    ready = 1;
  } else if (threadIdx.x == 32) {
    while (ready == 0) {
    }
    __threadfence_block();
    *out = value;
  }
}

int main() {
  int one = 21, *in, *out, result;
  cudaMalloc(&in, sizeof one);
  cudaMalloc(&out, sizeof *out);
  cudaMemcpy(in, &one, sizeof one, cudaMemcpyHostToDevice);
  pass<<<1, 64>>>(in, out);
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return result != 42;
}
