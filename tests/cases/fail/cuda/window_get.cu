// Another rank gets what a kernel of the owner may still be writing.
//# prints: elements are wrong
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

  int *p;
  cudaMalloc(&p, N * sizeof *p);
  MPI_Win win;
  MPI_Win_create(p, N * sizeof *p, sizeof *p, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  static int mine[N];
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    fill<<<1, N>>>(p, 2); //~ CS-GPU-05 access ranks=1
    MPI_Win_sync(win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Get(mine, N, MPI_INT, peer, 0, N, MPI_INT, win); //~ CS-GPU-05 operation ranks=1
    MPI_Win_flush(peer, win);
    bad = differ(mine, 2);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
