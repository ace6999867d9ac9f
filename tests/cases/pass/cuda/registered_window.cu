// A kernel writes memory of MPI_Win_allocate, registered with CUDA, in an epoch of its own.
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

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
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  int *p, one = 1;
  MPI_Win win;
  MPI_Win_allocate(N * sizeof *p, sizeof *p, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win);
  cudaHostRegister(p, N * sizeof *p, cudaHostRegisterDefault);
  MPI_Win_fence(0, win);
  if (rank == 0) MPI_Put(&one, 1, MPI_INT, peer, 7, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  if (rank == 1) fill<<<1, N>>>(p, 2);
  cudaDeviceSynchronize();
  MPI_Win_fence(0, win);
  if (rank == 1) bad = differ(p, 2);
  cudaHostUnregister(p);
  MPI_Win_free(&win);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
