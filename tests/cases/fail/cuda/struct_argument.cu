// A kernel gets its arrays in a structure; one of them is written in another stream.
//# np: 1
//# mpi: openmpi
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

struct Fields {
  int *in, *out;
};

__global__ void shift(Fields fields) { fields.out[threadIdx.x] = fields.in[(threadIdx.x + 1) % N]; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  Fields fields;
  int *other;
  cudaMalloc(&fields.in, N * sizeof(int));
  cudaMalloc(&fields.out, N * sizeof(int));
  cudaMalloc(&other, N * sizeof(int));
  fill<<<1, N>>>(fields.in, 4);
  cudaDeviceSynchronize();
  shift<<<1, N, 0, first>>>(fields); //~ CS-GPU-01 operation
  fill<<<1, N, 0, second>>>(fields.in, 0); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  bad = wrong(fields.out, 4);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
