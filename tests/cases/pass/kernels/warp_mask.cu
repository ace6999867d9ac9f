// Threads exchange values across the two halves of a warp, which synchronises as a whole.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void swap(int *data) {
  __shared__ int all[32];
  int i = threadIdx.x;
  all[i] = data[i];
  __syncwarp();
  data[i] = all[31 - i];
}

int main() {
  int host[32], *data;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  swap<<<1, 32>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  for (int i = 0; i < 32; ++i)
    if (host[i] != 31 - i) return 1;
  return 0;
}
