// The host reads registered memory that cudaMemcpyAsync may still be writing.
//# np: 1
//# mpi: mpich
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p);
  static int host[N];
  cudaHostRegister(host, sizeof host, cudaHostRegisterDefault);
  fill<<<1, N>>>(p, 1);
  cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, 0); //~ CS-GPU-02 operation
  bad = host[7] != 1; //~ CS-GPU-02 access
  cudaDeviceSynchronize();
  cudaHostUnregister(host);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
