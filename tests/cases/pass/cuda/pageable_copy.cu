// cudaMemcpy has read pageable memory when it returns, and written it.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void increment(int *p) { p[threadIdx.x] += 1; }

// Elements that have another value.
static int differ(const int *p, int value) {
  int count = 0;
  for (int i = 0; i < N; i++) count += p[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p);
  static int host[N];
  for (int i = 0; i < N; i++) host[i] = 1;
  cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
  host[7] = 2;
  increment<<<1, N>>>(p);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  bad = differ(host, 2);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
