// Threads exchange values within the halves of a warp: one of the masks lacks a thread.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void reverse(int *data) {
  __shared__ int all[32];
  int i = threadIdx.x, first = i / 16 * 16;
  all[i] = data[i]; //~ CS-KRN-01 cause
  if (i != 5) __syncwarp(i < 16 ? 0x0000ffdf : 0xffff0000);
  data[i] = all[first + 15 - i % 16]; //~ CS-KRN-01 cause
}

int main() {
  int host[32], *data;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<1, 32>>>(data); //~ CS-KRN-01 access
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  return 0;
}
