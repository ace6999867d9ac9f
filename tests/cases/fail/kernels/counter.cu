// Threads of all blocks count by an atomic, but one reads the counter as if it were nobody else's.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void count(unsigned *counter, unsigned *seen) {
  atomicAdd(counter, 1); //~ CS-KRN-01 cause
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *seen = *counter; //~ CS-KRN-01 cause
}

int main() {
  unsigned *counter, *seen, result;
  cudaMalloc(&counter, sizeof *counter); //~ CS-KRN-01 operation
  cudaMalloc(&seen, sizeof *seen);
  cudaMemset(counter, 0, sizeof *counter);
  count<<<4, 64>>>(counter, seen); //~ CS-KRN-01 access
  cudaMemcpy(&result, counter, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(counter);
  cudaFree(seen);
  return result != 256;
}
