// Two host threads use one array in a stream each; that the threads are ordered orders no streams.
//# np: 1
//# mpi: openmpi
//# seed: 3
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>
#include <thread>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void increment(int *p) { p[threadIdx.x] += 1; }

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  std::thread([=] { fill<<<1, N, 0, first>>>(p, 1); }).join(); //~ CS-GPU-01 operation
  std::thread([=] { increment<<<1, N, 0, second>>>(p); }).join(); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  bad = wrong(p, 2);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
