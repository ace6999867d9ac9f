// A function waits for the copy of its array before it returns.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

static __attribute__((noinline)) void upload(int *p, cudaStream_t stream) {
  int values[N];
  for (int i = 0; i < N; i++) values[i] = i;
  cudaMemcpyAsync(p, values, sizeof values, cudaMemcpyHostToDevice, stream);
  cudaStreamSynchronize(stream);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int *p, host[N];
  cudaMalloc(&p, N * sizeof *p);
  upload(p, stream);
  cudaStreamSynchronize(stream);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int bad = 0;
  for (int i = 0; i < N; i++) bad += host[i] != i;
  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
