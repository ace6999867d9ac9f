// Threads exchange values across the two halves of a warp, but each half synchronises by itself.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void swap(int *data) {
  __shared__ int all[32];
  int i = threadIdx.x;
  all[i] = data[i]; //~ CS-KRN-01 cause
  __syncwarp(i < 16 ? 0x0000ffff : 0xffff0000);
  data[i] = all[31 - i]; //~ CS-KRN-01 cause
}

int main() {
  int host[32], *data;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  swap<<<1, 32>>>(data); //~ CS-KRN-01 access
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  return 0;
}
