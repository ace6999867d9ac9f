// A fence does not wait for a kernel that writes the window memory.
//# prints: elements are wrong
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
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p);
  MPI_Win win;
  MPI_Win_create(p, N * sizeof *p, sizeof *p, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  static int ones[N];
  for (int i = 0; i < N; i++) ones[i] = 1;
  MPI_Win_fence(0, win);
  if (rank == 1) fill<<<1, N>>>(p, 2); //~ CS-GPU-05 access ranks=1
  MPI_Win_fence(0, win);
  if (rank == 0) MPI_Put(ones, N, MPI_INT, peer, 0, N, MPI_INT, win); //~ CS-GPU-05 operation ranks=1
  MPI_Win_fence(0, win);
  cudaDeviceSynchronize();
  if (rank == 1) bad = wrong(p, 1);
  MPI_Win_free(&win);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
