// A thread starts a kernel and ends; the main thread reads the result.
//# np: 1
//# mpi: mpich
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>
#include <thread>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMallocManaged(&p, N * sizeof *p);
  std::thread([=] {
    fill<<<1, N, 0, stream>>>(p, 1); //~ CS-GPU-02 operation
  }).join();
  bad = p[7] != 1; //~ CS-GPU-02 access
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
