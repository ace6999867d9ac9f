// cudaMemcpyPeer returns before it is done.
//# gpu: 2
//# mpi: openmpi
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
  int *q;
  cudaSetDevice(1);
  cudaMalloc(&q, N * sizeof *q);
  fill<<<1, N>>>(q, 1);
  cudaSetDevice(0);
  if (rank == 0) {
    cudaMemcpyPeer(p, 0, q, 1, N * sizeof *p); //~ CS-GPU-03 operation
    MPI_Send(p, N, MPI_INT, peer, 0, MPI_COMM_WORLD); //~ CS-GPU-03 access
  } else {
    MPI_Recv(p, N, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bad = wrong(p, 1);
  }
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
