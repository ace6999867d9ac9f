// A copy between arrays and a kernel that reads its target are in streams that nothing orders.
//# np: 1
//# seed: 12
//# mpi: mpich
//# prints: elements are wrong
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
  int *q, *r;
  cudaMalloc(&q, N * sizeof *q);
  cudaMalloc(&r, N * sizeof *r);
  fill<<<1, N>>>(p, 4);
  cudaDeviceSynchronize();
  cudaMemcpyAsync(q, p, N * sizeof *p, cudaMemcpyDeviceToDevice, first); //~ CS-GPU-01 operation
  copy<<<1, N, 0, second>>>(r, q); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  bad = wrong(r, 4);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
