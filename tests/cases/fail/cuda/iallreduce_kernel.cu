// A kernel reads the result of a pending MPI_Iallreduce.
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
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p);
  int *sum;
  cudaMalloc(&sum, N * sizeof *sum);
  fill<<<1, N>>>(p, rank + 1);
  cudaDeviceSynchronize();
  MPI_Request request;
  MPI_Iallreduce(p, sum, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request); //~ CS-GPU-04 operation ranks=0,1
  increment<<<1, N>>>(sum); //~ CS-GPU-04 access ranks=0,1
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  cudaDeviceSynchronize();
  bad = wrong(sum, 4);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
