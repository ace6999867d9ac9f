// A kernel computes the interior while the neighbour's element arrives.
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void increment(int *p) { p[threadIdx.x] += 1; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p);
  fill<<<1, N>>>(p, rank);
  cudaDeviceSynchronize();
  MPI_Request requests[2];
  MPI_Irecv(p, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(p + N - 1, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
  increment<<<1, N - 2>>>(p + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  cudaDeviceSynchronize();
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  bad = (host[0] != peer) + (host[1] != rank + 1) + (host[N - 1] != rank);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
