// The host reads a managed variable that a kernel may still be adding to.
//# np: 1
//# mpi: openmpi
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__managed__ int total;

__global__ void count() { atomicAdd(&total, 1); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  count<<<1, N>>>(); //~ CS-GPU-02 operation
  bad = total != N; //~ CS-GPU-02 access
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
