// The host writes a row that cudaMemcpy2DAsync may still be reading.
//# np: 1
//# mpi: openmpi
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 32;

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
  int *matrix, *host;
  size_t pitch;
  cudaMallocPitch(&matrix, &pitch, N * sizeof *matrix, N);
  cudaMallocHost(&host, 2 * N * N * sizeof *host);
  for (int i = 0; i < 2 * N * N; i++) host[i] = 1;
  // Half of each row of the host's.
  cudaMemcpy2DAsync(matrix, pitch, host, 2 * N * sizeof *host, N * sizeof *host, N, cudaMemcpyHostToDevice, stream); //~ CS-GPU-02 operation
  host[2 * N + N - 1] = 5; //~ CS-GPU-02 access
  cudaDeviceSynchronize();
  cudaMemcpy2D(host, N * sizeof *host, matrix, pitch, N * sizeof *host, N, cudaMemcpyDeviceToHost);
  bad = differ(host + N, 1);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
