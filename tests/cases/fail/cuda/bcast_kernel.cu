// The root broadcasts what its kernel may still be writing.
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
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p);
  if (rank == 0) {
    fill<<<1, N>>>(p, 1); //~ CS-GPU-03 operation ranks=0
  }
  MPI_Bcast(p, N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-GPU-03 access ranks=0
  cudaDeviceSynchronize();
  bad = wrong(p, 1);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
