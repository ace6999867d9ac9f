// cudaMemcpyAsync reads window memory that another rank accumulates to.
//# mpi: mpich
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

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
  int *host;
  cudaMallocHost(&host, N * sizeof *host);
  cudaMemset(p, 0, N * sizeof *p);
  cudaDeviceSynchronize();
  MPI_Win win;
  MPI_Win_create(p, N * sizeof *p, sizeof *p, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  static int ones[N];
  for (int i = 0; i < N; i++) ones[i] = 1;
  MPI_Win_fence(0, win);
  if (rank == 0) MPI_Accumulate(ones, N, MPI_INT, peer, 0, N, MPI_INT, MPI_SUM, win); //~ CS-GPU-05 operation ranks=1
  if (rank == 1) cudaMemcpyAsync(host, p, N * sizeof *p, cudaMemcpyDeviceToHost, 0); //~ CS-GPU-05 access ranks=1
  cudaDeviceSynchronize();
  MPI_Win_fence(0, win);
  if (rank == 1) bad = differ(host, 1);
  MPI_Win_free(&win);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
