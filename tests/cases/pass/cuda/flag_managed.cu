// The last block of a kernel releases a flag in managed memory, which the host acquires before it
// sends what the kernel has written.
//# np: 2
//# mpi: openmpi
//# flags: -std=c++17
#include <mpi.h>
#include <cstdio>
#include <cuda/atomic>

constexpr int N = 256, BLOCKS = 8;
using Flag = cuda::atomic_ref<int, cuda::thread_scope_system>;

__global__ void fill(int *p, int *arrived, int *flag, int value) {
  p[blockIdx.x * blockDim.x + threadIdx.x] = value;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(arrived, 1) == BLOCKS - 1)
    Flag(*flag).store(1, cuda::memory_order_release);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p, *arrived, *flag;
  cudaMallocManaged(&p, BLOCKS * N * sizeof *p);
  cudaMalloc(&arrived, sizeof *arrived);
  cudaMallocManaged(&flag, sizeof *flag);
  cudaMemset(arrived, 0, sizeof *arrived);
  *flag = 0;
  cudaDeviceSynchronize();
  if (rank == 0) {
    fill<<<BLOCKS, N, 0, stream>>>(p, arrived, flag, 3);
    while (!Flag(*flag).load(cuda::memory_order_acquire)) {
    }
    MPI_Send(p, BLOCKS * N, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(p, BLOCKS * N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < BLOCKS * N; i++) bad += p[i] != 3;
  }
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
