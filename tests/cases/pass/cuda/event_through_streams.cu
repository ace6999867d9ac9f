// The host waits for an event of a stream that has waited for another.
//# np: 1
//# mpi: mpich
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

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEvent_t one, two;
  cudaEventCreate(&one);
  cudaEventCreate(&two);
  int *p;
  cudaMallocManaged(&p, N * sizeof *p);
  fill<<<1, N, 0, first>>>(p, 1);
  cudaEventRecord(one, first);
  cudaStreamWaitEvent(second, one, 0);
  cudaEventRecord(two, second);
  cudaEventSynchronize(two);
  bad = differ(p, 1);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
