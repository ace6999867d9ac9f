// The halves of a warp do different things, and come to one barrier. Warps may come to two.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void turn(const int *in, int *out) {
  __shared__ int tile[64];
  int i = threadIdx.x;
  if (i % 32 < 16) {
    tile[i] = in[i];
  } else {
    tile[i] = 2 * in[i];
  }
  __syncthreads();
  out[i] = tile[63 - i];
  if (i < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    out[i] += 1;
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
}

int main() {
  int host[64], *in, *out;
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  turn<<<1, 64>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
