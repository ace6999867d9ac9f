// Memory of cudaMallocAsync is used in another stream, which waits for neither the allocation nor
// the kernel: one missing wait, one finding.
//# np: 1
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
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEvent_t filled;
  cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
  int *p, *q;
  cudaMallocAsync(&p, N * sizeof *p, first);
  cudaMalloc(&q, N * sizeof *q);
  fill<<<1, N, 0, first>>>(p, 1); //~ CS-GPU-01 operation
  cudaEventRecord(filled, first);
  copy<<<1, N, 0, second>>>(q, p); //~ CS-GPU-01 access
  cudaStreamSynchronize(second);
  int bad = wrong(q, 1);
  cudaDeviceSynchronize();
  cudaFreeAsync(p, first);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
