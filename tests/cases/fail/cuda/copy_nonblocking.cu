// cudaMemcpy waits for the default stream, not for one made with cudaStreamNonBlocking.
//# np: 1
//# mpi: mpich
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

// Elements that have another value.
static int differ(const int *p, int value) {
  int count = 0;
  for (int i = 0; i < N; i++) count += p[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  static int host[N];
  fill<<<1, N, 0, stream>>>(p, 1); //~ CS-GPU-01 operation
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost); //~ CS-GPU-01 access
  bad = differ(host, 1);
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
