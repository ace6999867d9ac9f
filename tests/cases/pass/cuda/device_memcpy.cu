// cudaMemcpy is called for memory of the device.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>
#include <cstring>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

// Elements that have another value.
static int differ(const int *p, int value) {
  int count = 0;
  for (int i = 0; i < N; i++) count += p[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  static int host[N];
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  fill<<<1, N>>>(p, 1);
  cudaDeviceSynchronize();
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  bad = differ(host, 1);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
