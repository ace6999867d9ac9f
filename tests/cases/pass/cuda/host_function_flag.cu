// A function of the host tells by a flag that a kernel is complete.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <atomic>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

static std::atomic<int> done;

static void CUDART_CB tell(void *) { done.store(1, std::memory_order_release); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMallocManaged(&p, N * sizeof *p);
  fill<<<1, N, 0, stream>>>(p, 3);
  cudaLaunchHostFunc(stream, tell, nullptr);
  while (!done.load(std::memory_order_acquire)) {
  }
  int bad = p[7] != 3;
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad;
}
