// Kernels of two streams add to a counter, each while it has the lock.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int BLOCKS = 4, TIMES = 8;

__global__ void count(int *lock, int *counter) {
  for (int i = 0; i < TIMES; i++) {
    while (atomicExch(lock, 1) != 0) {
    }
    __threadfence();
    *counter += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

__global__ void count_alone(int *counter) { *counter += 1; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int *lock, *counter, result;
  cudaMalloc(&lock, sizeof *lock);
  cudaMalloc(&counter, sizeof *counter);
  cudaMemset(lock, 0, sizeof *lock);
  cudaMemset(counter, 0, sizeof *counter);
  cudaDeviceSynchronize();
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  count<<<BLOCKS, 1, 0, one>>>(lock, counter);
  count<<<BLOCKS, 1, 0, other>>>(lock, counter);
  cudaDeviceSynchronize();
  cudaMemcpy(&result, counter, sizeof result, cudaMemcpyDeviceToHost);
  int bad = result != 2 * BLOCKS * TIMES;
  if (bad) printf("%d\n", result);
  cudaFree(lock);
  cudaFree(counter);
  MPI_Finalize();
  return bad;
}
