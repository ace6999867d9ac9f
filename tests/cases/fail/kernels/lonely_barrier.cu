// One warp waits for another, which does not come.
//# np: 1
//# mpi: none
__global__ void pass(const int *in, int *out) {
  int i = threadIdx.x;
  out[i] = in[i];
  if (i < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[i] += 1;
  }
}

int main() {
  int host[64], *in, *out;
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  pass<<<1, 64>>>(in, out); //~ CS-GPU-09 access
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
