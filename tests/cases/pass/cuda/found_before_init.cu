// Two kernels in one stream before MPI is initialised.
//# np: 2
//# mpi: mpich
#include <cstdio>
#include <mpi.h>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  cudaStream_t first;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  fill<<<1, N, 0, first>>>(p, 1);
  fill<<<1, N, 0, first>>>(p, 2);
  cudaDeviceSynchronize();

  MPI_Init(&argc, &argv);
  MPI_Finalize();
}
