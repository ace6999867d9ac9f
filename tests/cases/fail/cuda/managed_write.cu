// The host writes managed memory that a kernel may still be reading.
//# np: 1
//# mpi: openmpi
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

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

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMallocManaged(&p, N * sizeof *p);
  int *q;
  cudaMalloc(&q, N * sizeof *q);
  for (int i = 0; i < N; i++) p[i] = 1;
  copy<<<1, N, 0, stream>>>(q, p); //~ CS-GPU-02 operation
  p[7] = 2; //~ CS-GPU-02 access
  cudaDeviceSynchronize();
  bad = wrong(q, 1);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
