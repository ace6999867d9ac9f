// A lock with fences where it is taken and where it is given back.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__device__ int locked;

__global__ void count(int *counter) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&locked, 0, 1) != 0) {
  }
  __threadfence();
  *counter += 1;
  __threadfence();
  atomicExch(&locked, 0);
}

int main() {
  int *counter, result;
  cudaMalloc(&counter, sizeof *counter);
  cudaMemset(counter, 0, sizeof *counter);
  count<<<20, 32>>>(counter);
  cudaMemcpy(&result, counter, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(counter);
  return result != 20;
}
