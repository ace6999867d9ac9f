// Each half of the warp names itself; and lanes that remain in a condition are asked for before it.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void sum(const int *in, int *out) {
  int i = threadIdx.x, v = in[i];
  unsigned half = i < 16 ? 0x0000ffff : 0xffff0000;
  for (int step = 8; step > 0; step /= 2) v += __shfl_down_sync(half, v, step, 16);
  unsigned some = __ballot_sync(0xffffffff, v % 3 == 0);
  if (v % 3 == 0) v = __shfl_sync(some, v, __ffs(some) - 1);
  out[i] = v;
}

int main() {
  int host[32], *in, *out;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<1, 32>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
