// A host function reads what a kernel in another stream may still be writing.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

static int *shared;

static void look(void *result) {
  *static_cast<int *>(result) = shared[7] != 1; //~ CS-GPU-02 access
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaMallocManaged(&shared, N * sizeof *shared);
  fill<<<1, N, 0, first>>>(shared, 1); //~ CS-GPU-02 operation
  cudaLaunchHostFunc(second, look, &bad);
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
