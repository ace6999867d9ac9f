// All lanes shuffle, but name only half of themselves.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void sum(const int *in, int *out) {
  int i = threadIdx.x, v = in[i];
  for (int step = 8; step > 0; step /= 2) {
    v += __shfl_down_sync(0x0000ffff, v, step); //~ CS-KRN-03 cause
  }
  out[i] = v;
}

int main() {
  int host[32], *in, *out;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<1, 32>>>(in, out); //~ CS-KRN-03 access
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
