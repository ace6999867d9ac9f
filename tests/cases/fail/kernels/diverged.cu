// The halves of a warp come to two barriers, each of which is for the whole block.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void turn(const int *in, int *out) {
  __shared__ int tile[32];
  int i = threadIdx.x;
  if (i < 16) {
    tile[i] = in[i];
    __syncthreads(); //~ CS-KRN-03 cause
    out[i] = tile[15 - i];
  } else {
    tile[i] = 2 * in[i];
    __syncthreads(); //~ CS-KRN-03 cause
    out[i] = tile[47 - i] + 1;
  }
}

int main() {
  int host[32], *in, *out;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  turn<<<1, 32>>>(in, out); //~ CS-KRN-03 access
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
