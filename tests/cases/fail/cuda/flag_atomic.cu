// Kernels count up, atomically for one device alone, what the host waits for.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <atomic>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int *count, int value) {
  p[threadIdx.x] = value;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(count, 1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  cudaStream_t streams[2];
  int *p, *count;
  cudaMallocManaged(&p, 2 * N * sizeof *p);
  cudaMallocHost(&count, sizeof *count);
  *count = 0;
  for (int i = 0; i < 2; i++) {
    cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    fill<<<1, N, 0, streams[i]>>>(p + i * N, count, 3); //~ CS-GPU-02 operation
  }
  while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < 2) { //~ CS-GPU-02 access
  }
  int bad = 0;
  for (int i = 0; i < 2 * N; i++) bad += p[i] != 3; //~ CS-GPU-02 access
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
