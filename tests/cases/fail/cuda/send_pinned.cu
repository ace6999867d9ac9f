// A rank sends pinned memory that cudaMemcpyAsync may still be writing.
//# mpi: mpich
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

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  int *host;
  cudaMallocHost(&host, N * sizeof *host);
  fill<<<1, N, 0, stream>>>(p, 1);
  if (rank == 0) {
    cudaMemcpyAsync(host, p, N * sizeof *p, cudaMemcpyDeviceToHost, stream); //~ CS-GPU-03 operation
    MPI_Send(host, N, MPI_INT, peer, 0, MPI_COMM_WORLD); //~ CS-GPU-03 access
  } else {
    MPI_Recv(host, N, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bad = differ(host, 1);
  }
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
