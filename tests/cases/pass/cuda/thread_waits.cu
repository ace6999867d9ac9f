// Another thread waits for the device; the main thread waits for that.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>
#include <thread>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

// Elements that have another value.
static int differ(const int *p, int value) {
  int count = 0;
  for (int i = 0; i < N; i++) count += p[i] != value;
  return count;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMallocManaged(&p, N * sizeof *p);
  fill<<<1, N, 0, stream>>>(p, 1);
  std::thread([] { cudaDeviceSynchronize(); }).join();
  bad = differ(p, 1);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
