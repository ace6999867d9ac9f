// A callback reads what was copied before it in its stream.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

static int *shared;

static void look(cudaStream_t, cudaError_t, void *result) {
  *static_cast<int *>(result) = shared[7] != 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  cudaMallocHost(&shared, N * sizeof *shared);
  fill<<<1, N, 0, first>>>(p, 1);
  cudaMemcpyAsync(shared, p, N * sizeof *p, cudaMemcpyDeviceToHost, first);
  cudaStreamAddCallback(first, look, &bad, 0);
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
