// A race that is over before MPI is initialised.
//# np: 2
//# mpi: mpich
#include <cstdio>
#include <mpi.h>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  fill<<<1, N, 0, first>>>(p, 1); //~ CS-GPU-01 operation ranks=0,1
  fill<<<1, N, 0, second>>>(p, 2); //~ CS-GPU-01 access ranks=0,1
  cudaDeviceSynchronize();

  MPI_Init(&argc, &argv);
  MPI_Finalize();
}
