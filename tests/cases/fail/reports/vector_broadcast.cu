// A rank receives a broadcast into a vector that it still clears: the root had waited for its
// stream, others do not (AMReX, pull request 5849).
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
  int rank, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *vector;
  cudaMalloc(&vector, N * sizeof *vector);
  if (rank == 0) {
    fill<<<1, N, 0, stream>>>(vector, 1);
    cudaStreamSynchronize(stream);
  } else {
    cudaMemsetAsync(vector, 0, N * sizeof *vector, stream); //~ CS-GPU-03 operation
  }
  MPI_Bcast(vector, N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-GPU-03 access
  cudaDeviceSynchronize();
  bad = wrong(vector, 1);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
