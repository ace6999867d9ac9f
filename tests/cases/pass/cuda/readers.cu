// Kernels in two streams read one array, which needs no order.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void copy(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x]; }

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
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  int *a, *b;
  cudaMalloc(&a, N * sizeof *a);
  cudaMalloc(&b, N * sizeof *b);
  fill<<<1, N>>>(p, 3);
  cudaDeviceSynchronize();
  copy<<<1, N, 0, first>>>(a, p);
  copy<<<1, N, 0, second>>>(b, p);
  cudaDeviceSynchronize();
  bad = wrong(a, 3) + wrong(b, 3);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
