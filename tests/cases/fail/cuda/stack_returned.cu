// A function returns while a copy reads its array.
//# np: 1
//# mpi: openmpi
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

static __attribute__((noinline)) void upload(int *p, cudaStream_t stream) {
  int values[N];
  for (int i = 0; i < N; i++) values[i] = i;
  cudaMemcpyAsync(p, values, sizeof values, cudaMemcpyHostToDevice, stream); //~ CS-GPU-07 operation
} //~ CS-GPU-07 return func=upload

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
