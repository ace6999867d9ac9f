// A kernel writes the buffer of a pending send.
//# mpi: openmpi
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void increment(int *p) { p[threadIdx.x] += 1; }

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
  fill<<<1, N>>>(p, 1);
  cudaDeviceSynchronize();
  if (rank == 0) {
    MPI_Request request;
    MPI_Isend(p, N, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-GPU-04 operation
    increment<<<1, N>>>(p); //~ CS-GPU-04 access
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(q, N, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  cudaDeviceSynchronize();
  bad = wrong(q, 1);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
