// All threads are in all rounds of a loop, with its barrier; some do nothing in the last one.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void sums(const int *in, int *out, int n) {
  __shared__ int tile[64];
  int i = threadIdx.x;
  tile[i] = 0;
  for (int round = 0; round < 3; ++round) {
    int at = 64 * round + i;
    if (at < n) tile[i] += in[at];
    __syncthreads();
  }
  out[i] = tile[i];
}

int main() {
  int host[150], *in, *out;
  for (int i = 0; i < 150; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sums<<<1, 64>>>(in, out, 150);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
