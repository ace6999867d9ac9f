// The host writes the rows that cudaMemcpy2DToArrayAsync may still be reading.
//# np: 1
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 32;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *host;
  cudaMallocHost(&host, N * N * sizeof *host);
  for (int i = 0; i < N * N; i++) host[i] = 1;
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaMallocArray(&array, &format, N, N);
  cudaMemcpy2DToArrayAsync(array, 0, 0, host, N * sizeof *host, N * sizeof *host, N, cudaMemcpyHostToDevice, stream); //~ CS-GPU-02 operation
  for (int i = 0; i < N; i++) host[i] = 2; //~ CS-GPU-02 access
  cudaStreamSynchronize(stream);
  int back[N], bad = 0;
  cudaMemcpy2DFromArray(back, sizeof back, array, 0, 0, sizeof back, 1, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i++) bad += back[i] != 1;
  if (bad) printf("%d elements are wrong\n", bad);
  cudaFreeArray(array);
  cudaFreeHost(host);
  cudaStreamDestroy(stream);
  MPI_Finalize();
  return bad != 0;
}
