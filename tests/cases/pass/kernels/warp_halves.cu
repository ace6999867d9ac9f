// Threads exchange values within the halves of a warp, each of which synchronises by itself.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void reverse(int *data) {
  __shared__ int all[32];
  int i = threadIdx.x, first = i / 16 * 16;
  all[i] = data[i];
  __syncwarp(i < 16 ? 0x0000ffff : 0xffff0000);
  data[i] = all[first + 15 - i % 16];
}

int main() {
  int host[32], *data;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<1, 32>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  for (int i = 0; i < 32; ++i)
    if (host[i] != i / 16 * 16 + 15 - i % 16) return 1;
  return 0;
}
