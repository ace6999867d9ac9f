// The host reads pinned memory that a kernel may still be writing through its mapping.
//# np: 1
//# mpi: openmpi
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  int *host, *mapped;
  cudaHostAlloc(&host, N * sizeof *host, cudaHostAllocMapped);
  cudaHostGetDevicePointer(&mapped, host, 0);
  fill<<<1, N>>>(mapped, 1); //~ CS-GPU-02 operation
  bad = host[7] != 1; //~ CS-GPU-02 access
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
