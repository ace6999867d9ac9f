// Registered memory is freed when the stream is done.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>
#include <cstdlib>

constexpr int N = 256;

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

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
  cudaMemcpyAsync(p, host, N * sizeof *p, cudaMemcpyHostToDevice, stream);
  cudaStreamSynchronize(stream);
  cudaHostUnregister(host);
  free(host);
  cudaDeviceSynchronize();
  bad = wrong(p, 1);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
