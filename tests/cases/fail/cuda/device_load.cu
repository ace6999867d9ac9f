// The host loads from memory of the device.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p); //~ CS-GPU-08 operation
  fill<<<1, N>>>(p, 1);
  cudaDeviceSynchronize();
  bad = p[7] != 1; //~ CS-GPU-08 access

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
