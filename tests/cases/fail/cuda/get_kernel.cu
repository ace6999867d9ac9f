// A kernel reads what a pending MPI_Get is still fetching.
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void copy(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x]; }

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
  int *q;
  cudaMalloc(&q, N * sizeof *q);
  static int window[N];
  for (int i = 0; i < N; i++) window[i] = 1;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
    MPI_Get(p, N, MPI_INT, peer, 0, N, MPI_INT, win); //~ CS-GPU-04 operation
    copy<<<1, N>>>(q, p); //~ CS-GPU-04 access
    MPI_Win_unlock(peer, win);
    cudaDeviceSynchronize();
    bad = wrong(q, 1);
  }
  MPI_Win_free(&win);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
