// The last block adds up what all blocks have stored: nothing says that it was stored before the
// count.
//# np: 1
//# mpi: none
//# options: --kernel-checks
constexpr int BLOCKS = 24, THREADS = 64;

__device__ unsigned arrived;

__global__ void sum(const int *in, int *parts, int *out) {
  __shared__ int part;
  __shared__ bool last;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  atomicAdd(&part, in[blockIdx.x * THREADS + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = part; //~ CS-KRN-01 cause
    last = atomicAdd(&arrived, 1) == BLOCKS - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int all = 0;
    for (int i = 0; i < BLOCKS; ++i) all += parts[i]; //~ CS-KRN-01 cause
    *out = all;
    arrived = 0;
  }
}

int main() {
  static int host[BLOCKS * THREADS];
  int *in, *parts, *out, result;
  for (int i = 0; i < BLOCKS * THREADS; ++i) host[i] = 1;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&parts, BLOCKS * sizeof *parts); //~ CS-KRN-01 operation
  cudaMalloc(&out, sizeof *out);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<BLOCKS, THREADS>>>(in, parts, out); //~ CS-KRN-01 access
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(parts);
  cudaFree(out);
  return result != BLOCKS * THREADS;
}
