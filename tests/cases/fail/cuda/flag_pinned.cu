// A kernel tells the host by a flag, which it stores plainly, so that nothing makes its other
// stores seen before.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <atomic>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int *flag, int value) {
  p[threadIdx.x] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    *flag = 1;
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p, *flag;
  cudaMallocHost(&p, N * sizeof *p);
  cudaMallocHost(&flag, sizeof *flag);
  *flag = 0;
  fill<<<1, N, 0, stream>>>(p, flag, 3); //~ CS-GPU-02 operation
  while (!*(volatile int *)flag) { //~ CS-GPU-02 access
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  int bad = p[7] != 3; //~ CS-GPU-02 access
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad;
}
