// A vector that a kernel fills is summed when its stream has been waited for (AMReX, issue 5735).
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

// The sum over all ranks, in place.
static void sum(int *vector, cudaStream_t stream) {
  cudaStreamSynchronize(stream);
  MPI_Allreduce(MPI_IN_PLACE, vector, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int size, bad = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *vector;
  cudaMalloc(&vector, N * sizeof *vector);
  fill<<<1, N, 0, stream>>>(vector, 1);
  sum(vector, stream);
  cudaDeviceSynchronize();
  bad = wrong(vector, size);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
