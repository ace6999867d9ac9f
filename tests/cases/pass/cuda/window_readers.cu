// A kernel reads window memory that another rank gets at the same time.
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void copy(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x]; }

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

// Elements that have another value.
static int differ(const int *p, int value) {
  int count = 0;
  for (int i = 0; i < N; i++) count += p[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p);
  int *q;
  cudaMalloc(&q, N * sizeof *q);
  fill<<<1, N>>>(p, 1);
  cudaDeviceSynchronize();
  MPI_Win win;
  MPI_Win_create(p, N * sizeof *p, sizeof *p, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  static int mine[N];
  MPI_Win_fence(0, win);
  copy<<<1, N>>>(q, p);
  MPI_Get(mine, N, MPI_INT, peer, 0, N, MPI_INT, win);
  MPI_Win_fence(0, win);
  cudaDeviceSynchronize();
  bad = wrong(q, 1) + differ(mine, 1);
  MPI_Win_free(&win);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
