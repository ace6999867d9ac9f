// A kernel tells the host by a flag in pinned memory that what it has written before is there.
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
    __threadfence_system();
    *(volatile int *)flag = 1;
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
  fill<<<1, N, 0, stream>>>(p, flag, 3);
  while (!*(volatile int *)flag) {
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  int bad = p[7] != 3;
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad;
}
