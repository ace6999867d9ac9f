// A histogram: by atomics for the block in shared memory, then by those for the device.
//# np: 1
//# mpi: none
//# options: --kernel-checks
constexpr int BINS = 16, N = 4096;

__global__ void count(const unsigned char *in, unsigned *bins) {
  __shared__ unsigned own[BINS];
  if (threadIdx.x < BINS) own[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd_block(&own[in[i] % BINS], 1);
  __syncthreads();
  if (threadIdx.x < BINS) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

int main() {
  static unsigned char host[N];
  unsigned char *in;
  unsigned *bins, result[BINS];
  for (int i = 0; i < N; ++i) host[i] = i * 7;
  cudaMalloc(&in, N);
  cudaMalloc(&bins, sizeof result);
  cudaMemcpy(in, host, N, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, sizeof result);
  count<<<N / 256, 256>>>(in, bins);
  cudaMemcpy(result, bins, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(bins);
  for (int i = 0; i < BINS; ++i)
    if (result[i] != N / BINS) return 1;
  return 0;
}
