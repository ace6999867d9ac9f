// Elements are found by indices in memory, and the pool's array is given back in another stream.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value - threadIdx.x; }

__global__ void scatter(int *p, const int *index) { p[index[threadIdx.x]] = 1; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *p, *index;
  cudaMallocAsync(&p, N * sizeof *p, first);
  cudaMalloc(&index, N * sizeof *index);
  fill<<<1, N, 0, first>>>(index, N - 1);
  cudaStreamSynchronize(first);
  scatter<<<1, N, 0, first>>>(p, index); //~ CS-GPU-07 operation
  cudaFreeAsync(p, second); //~ CS-GPU-07 release
  cudaStreamSynchronize(second);
  cudaError_t error = cudaDeviceSynchronize();
  MPI_Finalize();
  return error != cudaSuccess;
}
