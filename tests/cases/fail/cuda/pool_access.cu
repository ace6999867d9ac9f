// A kernel on one device reads another one's pool, to which it was given access, and does not wait
// for the kernel that fills it.
//# np: 1
//# mpi: mpich
//# gpu: 2
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>
#include <cstring>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void add(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x] + 1; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  cudaMemPool_t pool;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  cudaMemAccessDesc access;
  memset(&access, 0, sizeof access);
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = 1;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  cudaMemPoolSetAccess(pool, &access, 1);
  int *in, *out, host[N], bad = 0;
  cudaStream_t first, second;
  cudaEvent_t filled;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaEventCreate(&filled);
  cudaMallocAsync(&in, N * sizeof *in, first);
  cudaEventRecord(filled, first);
  fill<<<1, N, 0, first>>>(in, 1); //~ CS-GPU-01 operation
  cudaSetDevice(1);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaMalloc(&out, N * sizeof *out);
  cudaStreamWaitEvent(second, filled);
  add<<<1, N, 0, second>>>(out, in); //~ CS-GPU-01 access
  cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDeviceToHost, second);
  cudaStreamSynchronize(second);
  cudaStreamSynchronize(first);
  cudaFreeAsync(in, first);
  for (int i = 0; i < N; i++) bad += host[i] != 2;
  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
