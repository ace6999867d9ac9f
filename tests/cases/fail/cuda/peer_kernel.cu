// A kernel of one device reads the memory of another, whose kernel it does not wait for.
//# np: 1
//# gpu: 2
//# mpi: mpich
//# seed: 3
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
  cudaEvent_t done;
  int *p, *q;
  cudaStreamCreate(&first);
  cudaEventCreate(&done);
  cudaMalloc(&p, N * sizeof *p);
  fill<<<1, N, 0, first>>>(p, 6); //~ CS-GPU-01 operation
  cudaEventRecord(done, first);
  cudaSetDevice(1);
  cudaDeviceEnablePeerAccess(0, 0);
  cudaStreamCreate(&second);
  cudaMalloc(&q, N * sizeof *q);
  copy<<<1, N, 0, second>>>(q, p); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  bad = wrong(q, 6);
  cudaSetDevice(0);
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
