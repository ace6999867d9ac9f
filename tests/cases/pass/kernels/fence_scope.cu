// The last block adds up what others have stored before a fence for the device.
//# np: 1
//# mpi: none
//# options: --kernel-checks
constexpr int BLOCKS = 8;

__device__ unsigned arrived;

__global__ void sum(int *parts, int *out) {
  parts[blockIdx.x] = blockIdx.x;
  __threadfence();
  if (atomicAdd(&arrived, 1) < BLOCKS - 1) return;
  __threadfence();
  int all = 0;
  for (int i = 0; i < BLOCKS; ++i) all += parts[i];
  *out = all;
}

int main() {
  int *parts, *out, result;
  cudaMalloc(&parts, BLOCKS * sizeof *parts);
  cudaMalloc(&out, sizeof *out);
  sum<<<BLOCKS, 1>>>(parts, out);
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(parts);
  cudaFree(out);
  return result != BLOCKS * (BLOCKS - 1) / 2;
}
