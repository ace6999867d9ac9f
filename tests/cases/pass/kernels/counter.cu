// Threads of all blocks count by an atomic, and one polls the counter by an atomic, too.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void count(unsigned *counter, unsigned *seen) {
  atomicAdd(counter, 1);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *seen = atomicAdd(counter, 0);
}

int main() {
  unsigned *counter, *seen, result;
  cudaMalloc(&counter, sizeof *counter);
  cudaMalloc(&seen, sizeof *seen);
  cudaMemset(counter, 0, sizeof *counter);
  count<<<4, 64>>>(counter, seen);
  cudaMemcpy(&result, counter, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(counter);
  cudaFree(seen);
  return result != 256;
}
