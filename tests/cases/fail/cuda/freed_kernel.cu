// A kernel uses memory that cudaFree has taken back.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void increment(int *p) { p[threadIdx.x] += 1; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p);
  fill<<<1, N>>>(p, 1);
  cudaDeviceSynchronize();
  cudaFree(p); //~ CS-GPU-06 release
  increment<<<1, N>>>(p); //~ CS-GPU-06 access
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
