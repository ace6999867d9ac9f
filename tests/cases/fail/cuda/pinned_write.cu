// The host writes what cudaMemcpyAsync may still be reading.
//# np: 1
//# mpi: mpich
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p);
  int *host;
  cudaMallocHost(&host, N * sizeof *host);
  for (int i = 0; i < N; i++) host[i] = 1;
  cudaMemcpyAsync(p, host, N * sizeof *p, cudaMemcpyHostToDevice, 0); //~ CS-GPU-02 operation
  host[7] = 2; //~ CS-GPU-02 access
  cudaDeviceSynchronize();
  bad = wrong(p, 1);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
