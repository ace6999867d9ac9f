// A kernel finds its array by a pointer in memory; another stream writes the array.
//# np: 1
//# mpi: mpich
//# seed: 2
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

__global__ void follow(int *out, int **table) { out[threadIdx.x] = (*table)[threadIdx.x]; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  int **table, *q, *other;
  cudaMalloc(&table, sizeof *table);
  cudaMalloc(&q, N * sizeof *q);
  cudaMalloc(&other, N * sizeof *other);
  cudaMemcpy(table, &p, sizeof p, cudaMemcpyHostToDevice);
  fill<<<1, N>>>(p, 4);
  cudaDeviceSynchronize();
  follow<<<1, N, 0, first>>>(q, table); //~ CS-GPU-01 operation
  fill<<<1, N, 0, second>>>(p, 0); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  bad = wrong(q, 4);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
