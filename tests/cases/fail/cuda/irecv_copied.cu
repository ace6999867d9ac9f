// Pinned memory is copied from while a receive into it is pending.
//# mpi: mpich
//# seed: 1
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
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(host, N, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  } else {
    MPI_Irecv(host, N, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-GPU-04 operation
    cudaMemcpyAsync(p, host, N * sizeof *p, cudaMemcpyHostToDevice, stream); //~ CS-GPU-04 access
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  cudaStreamSynchronize(stream);
  if (rank == 1) bad = wrong(p, 0);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
