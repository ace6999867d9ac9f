// The host asks for an event that was recorded after the kernel.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEvent_t done;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  int *p;
  cudaMallocManaged(&p, N * sizeof *p);
  fill<<<1, N, 0, stream>>>(p, 1);
  cudaEventRecord(done, stream);
  while (cudaEventQuery(done) == cudaErrorNotReady) continue;
  bad = p[7] != 1;
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
