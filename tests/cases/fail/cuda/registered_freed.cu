// Registered memory is freed while cudaMemcpyAsync may still be reading it.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>
#include <cstdlib>

constexpr int N = 256;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  int *host = static_cast<int *>(malloc(N * sizeof *host));
  for (int i = 0; i < N; i++) host[i] = 1;
  cudaHostRegister(host, N * sizeof *host, cudaHostRegisterDefault);
  cudaMemcpyAsync(p, host, N * sizeof *p, cudaMemcpyHostToDevice, stream); //~ CS-GPU-07 operation
  free(host); //~ CS-GPU-07 release
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
