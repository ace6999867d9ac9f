// Both warps know how many threads use a barrier, and a third one has its own.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void pass(const int *in, int *out) {
  __shared__ int tile[96];
  int i = threadIdx.x;
  tile[i] = in[i];
  if (i < 32) {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else if (i < 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[i] = tile[i - 32];
  } else {
    asm volatile("bar.sync 2, 32;" ::: "memory");
    out[i] = tile[159 - i];
  }
}

int main() {
  int host[96], *in, *out;
  for (int i = 0; i < 96; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  pass<<<1, 96>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
