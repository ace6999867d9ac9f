// One warp waits for another, which has half of its lanes only.
//# np: 1
//# mpi: none
__global__ void pass(const int *in, int *out) {
  int i = threadIdx.x;
  out[i] = in[i];
  if (i < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[i] += out[i + 16];
  } else {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  }
}

int main() {
  int host[48], *in, *out;
  for (int i = 0; i < 48; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  pass<<<1, 48>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
