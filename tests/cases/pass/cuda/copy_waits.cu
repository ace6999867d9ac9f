// cudaMemcpy to the host waits for the default stream, and with it for all that this waits for.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

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

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  static int host[N];
  fill<<<1, N, 0, stream>>>(p, 1);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  bad = differ(host, 1);
  increment<<<1, N>>>(p);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  bad += differ(host, 2);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
