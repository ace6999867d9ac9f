// A kernel writes what a complete MPI_Put has read.
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
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p);
  static int window[N];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  fill<<<1, N>>>(p, 1);
  cudaDeviceSynchronize();
  MPI_Win_fence(0, win);
  if (rank == 0) {
    MPI_Put(p, N, MPI_INT, peer, 0, N, MPI_INT, win);
  }
  MPI_Win_fence(0, win);
  increment<<<1, N>>>(p);
  cudaDeviceSynchronize();
  if (rank == 1) bad = differ(window, 1);
  MPI_Win_free(&win);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
