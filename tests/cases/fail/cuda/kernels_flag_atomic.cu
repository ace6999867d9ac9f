// A kernel of one stream waits by an atomic for what a kernel of another one has stored to a flag
// of its own.
//# np: 1
//# mpi: openmpi
#include <mpi.h>

constexpr int N = 64;

__global__ void produce(int *flag, int *data) {
  data[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(flag, 1);
  }
}

__global__ void consume(int *flag, int *data) {
  if (threadIdx.x == 0)
    while (atomicAdd(flag, 0) == 0) {
    }
  __syncthreads();
  __threadfence();
  data[threadIdx.x] += 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int *flags, *data;
  cudaMalloc(&flags, 2 * sizeof *flags);
  cudaMalloc(&data, N * sizeof *data);
  cudaMemset(flags, 1, 2 * sizeof *flags);
  cudaDeviceSynchronize();
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  consume<<<1, N, 0, one>>>(flags, data); //~ CS-GPU-01 operation
  produce<<<1, N, 0, other>>>(flags + 1, data); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  cudaFree(flags);
  cudaFree(data);
  MPI_Finalize();
  return 0;
}
