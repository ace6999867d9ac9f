// Kernels are in the default stream of their thread, which is waited for before MPI (MPI.jl, issue
// 443).
//# flags: --default-stream per-thread
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

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
  int rank, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int *own, *other;
  cudaMalloc(&own, N * sizeof *own);
  cudaMalloc(&other, N * sizeof *other);
  cudaMemset(own, 0, N * sizeof *own);
  cudaDeviceSynchronize();
  fill<<<1, N>>>(own, 7);
  cudaStreamSynchronize(cudaStreamPerThread);
  MPI_Sendrecv(own, N, MPI_INT, 1 - rank, 0, other, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  cudaDeviceSynchronize();
  bad = wrong(other, 7);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
