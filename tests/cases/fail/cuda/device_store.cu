// The host stores to memory of the device.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void increment(int *p) { p[threadIdx.x] += 1; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p); //~ CS-GPU-08 operation
  p[7] = 1; //~ CS-GPU-08 access
  increment<<<1, 1>>>(p + 7);
  int result;
  cudaMemcpy(&result, p + 7, sizeof result, cudaMemcpyDeviceToHost);
  bad = result != 2;

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
