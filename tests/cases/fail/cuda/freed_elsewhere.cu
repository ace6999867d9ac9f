// cudaFreeAsync is in a stream that does not wait for the kernel.
//# np: 1
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
  cudaEvent_t done;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  int *p, *q;
  cudaMalloc(&q, N * sizeof *q);
  cudaMallocAsync(&p, N * sizeof *p, first);
  fill<<<1, N, 0, first>>>(p, 1);
  cudaStreamSynchronize(first);
  copy<<<1, N, 0, first>>>(q, p); //~ CS-GPU-07 operation
  cudaFreeAsync(p, second); //~ CS-GPU-07 release
  cudaDeviceSynchronize();
  bad = wrong(q, 1);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
