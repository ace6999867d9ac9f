// Threads that have nothing to do are gone before others come to a barrier.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void copy(const int *in, int *out) {
  __shared__ int tile[64];
  int i = threadIdx.x;
  if (i >= 40) return;
  tile[i] = in[i];
  __syncthreads();
  out[i] = tile[39 - i];
}

int main() {
  int host[40], *in, *out;
  for (int i = 0; i < 40; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  copy<<<1, 64>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
