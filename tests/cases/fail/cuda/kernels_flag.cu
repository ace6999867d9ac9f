// Two kernels at once: one adds to the array that the other one stores, and looks at no flag but
// its own.
//# np: 1
//# mpi: openmpi
//# gpu: 2
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void produce(int *p, int *flag) {
  p[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) *(volatile int *)flag = 1;
}

__global__ void consume(int *p, int *flag) {
  if (threadIdx.x == 0)
    while (*(volatile int *)flag != 0);
  __syncthreads();
  p[threadIdx.x] += 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int *p, *flag, host[N], bad = 0;
  cudaMalloc(&p, N * sizeof *p);
  cudaMalloc(&flag, 2 * sizeof *flag);
  cudaMemset(flag, 0, 2 * sizeof *flag);
  cudaDeviceSynchronize();
  cudaStream_t stream;
  cudaSetDevice(1);
  cudaDeviceEnablePeerAccess(0, 0);
  cudaStreamCreate(&stream);
  consume<<<1, N, 0, stream>>>(p, flag); //~ CS-GPU-01 operation
  cudaSetDevice(0);
  produce<<<1, N>>>(p, flag + 1); //~ CS-GPU-01 access //~ CS-GPU-01 operation
  cudaSetDevice(1);
  cudaStreamSynchronize(stream);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost); //~ CS-GPU-01 access
  cudaSetDevice(0);
  cudaDeviceSynchronize();
  for (int i = 0; i < N; i++) bad += host[i] != i + 1;
  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
