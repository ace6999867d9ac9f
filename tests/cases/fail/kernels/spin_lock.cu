// A lock without fences: who takes it next need not see what was done under it.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__device__ int locked;

__global__ void count(int *counter) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&locked, 0, 1) != 0) {
  }
  *counter += 1; //~ CS-KRN-01 cause
  atomicExch(&locked, 0);
}

int main() {
  int *counter, result;
  cudaMalloc(&counter, sizeof *counter); //~ CS-KRN-01 operation
  cudaMemset(counter, 0, sizeof *counter);
  count<<<20, 32>>>(counter); //~ CS-KRN-01 access
  cudaMemcpy(&result, counter, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(counter);
  return result != 20;
}
