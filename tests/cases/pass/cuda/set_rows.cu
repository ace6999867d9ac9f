// cudaMemset2DAsync sets half of each row, a kernel in another stream writes the other half.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 32;

// Sets the first half of each row.
__global__ void half(int *matrix, size_t pitch) { matrix[blockIdx.x * pitch + threadIdx.x] = 7; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *matrix;
  size_t pitch;
  cudaMallocPitch(&matrix, &pitch, N * sizeof *matrix, N);
  half<<<N, N / 2, 0, first>>>(matrix, pitch / sizeof *matrix);
  cudaMemset2DAsync(matrix + N / 2, pitch, 0, N / 2 * sizeof *matrix, N, second);
  cudaDeviceSynchronize();
  static int host[N][N];
  cudaMemcpy2D(host, sizeof host[0], matrix, pitch, N * sizeof *matrix, N, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i++) bad += host[i][0] != 7 || host[i][N / 2] != 0;

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
