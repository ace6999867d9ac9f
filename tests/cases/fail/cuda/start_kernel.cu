// MPI_Start sends again what a kernel may still be writing.
//# mpi: mpich
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

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

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  MPI_Request request;
  cudaMemset(p, 0, N * sizeof *p);
  cudaDeviceSynchronize();
  if (rank == 0) MPI_Send_init(p, N, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  else MPI_Recv_init(p, N, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  for (int step = 1; step <= 3; step++) {
    if (rank == 0) {
      increment<<<1, N, 0, stream>>>(p); //~ CS-GPU-03 operation
    }
    MPI_Start(&request); //~ CS-GPU-03 access
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    cudaDeviceSynchronize();
  }
  MPI_Request_free(&request);
  bad = wrong(p, 3);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
