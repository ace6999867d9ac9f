// Whoever takes an array's address waits for the current stream, in which it may still be filled
// (mpi4py, pull request 60).
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

static cudaStream_t current;

struct Array {
  int *data;

  Array() { cudaMalloc(&data, N * sizeof *data); }
  void set(int value) { fill<<<1, N, 0, current>>>(data, value); }
  void *address() const {
    cudaStreamSynchronize(current);
    return data;
  }
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  cudaStreamCreateWithFlags(&current, cudaStreamNonBlocking);
  Array own, others;
  cudaMemset(others.data, 0, N * sizeof(int));
  cudaDeviceSynchronize();
  own.set(7);
  void *target = others.data;
  MPI_Alltoall(own.address(), N / size, MPI_INT, target, N / size, MPI_INT, MPI_COMM_WORLD);
  cudaDeviceSynchronize();
  bad = wrong(others.data, 7);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
