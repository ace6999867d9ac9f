// A rank receives into pinned memory that cudaMemcpyAsync may still be reading.
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

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

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  int *host;
  cudaMallocHost(&host, N * sizeof *host);
  for (int i = 0; i < N; i++) host[i] = rank;
  if (rank == 0) {
    MPI_Send(host, N, MPI_INT, peer, 0, MPI_COMM_WORLD);
  } else {
    cudaMemcpyAsync(p, host, N * sizeof *p, cudaMemcpyHostToDevice, stream); //~ CS-GPU-03 operation
    MPI_Recv(host, N, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-GPU-03 access
    cudaDeviceSynchronize();
    bad = wrong(p, 1);
  }

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
