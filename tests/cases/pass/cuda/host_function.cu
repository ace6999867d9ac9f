// A host function runs after the kernel that is before it in its stream.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

static int *shared;

static void look(void *result) {
  *static_cast<int *>(result) = shared[7] != 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaMallocManaged(&shared, N * sizeof *shared);
  fill<<<1, N, 0, first>>>(shared, 1);
  cudaLaunchHostFunc(first, look, &bad);
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
