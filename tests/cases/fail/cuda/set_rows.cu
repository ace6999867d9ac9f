// cudaMemset2DAsync sets the columns that a kernel in another stream writes, too.
//# np: 1
//# mpi: mpich
//# seed: 1
//# prints: elements are wrong
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
  half<<<N, N / 2, 0, first>>>(matrix, pitch / sizeof *matrix); //~ CS-GPU-01 operation
  cudaMemset2DAsync(matrix, pitch, 0, N * sizeof *matrix, N, second); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  static int host[N][N];
  cudaMemcpy2D(host, sizeof host[0], matrix, pitch, N * sizeof *matrix, N, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i++) bad += host[i][0] != 7 || host[i][N / 2] != 0;

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
