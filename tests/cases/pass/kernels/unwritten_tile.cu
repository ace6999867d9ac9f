// A sum of 96 numbers, with zeros behind them.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void sum(const int *in, int *out) {
  __shared__ int part[128];
  int i = threadIdx.x;
  part[i] = in[i];
  if (i < 32) part[96 + i] = 0;
  out[i] = 0;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (i < half) part[i] += part[i + half];
  }
  if (i == 0) out[0] = part[0];
}

int main() {
  int host[96], *in, *out;
  for (int i = 0; i < 96; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<1, 96>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
