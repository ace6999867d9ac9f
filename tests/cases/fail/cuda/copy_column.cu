// A column is copied while a kernel in another stream writes all of the matrix.
//# np: 1
//# mpi: openmpi
//# seed: 2
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 32;

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

// Sets the columns from `begin` on.
__global__ void columns(int *matrix, int begin) {
  int row = blockIdx.x, column = threadIdx.x;
  if (column >= begin) matrix[row * N + column] = row + 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *matrix, *column;
  cudaMalloc(&matrix, N * N * sizeof *matrix);
  cudaMalloc(&column, N * sizeof *column);
  cudaMemset(matrix, 0, N * N * sizeof *matrix);
  cudaDeviceSynchronize();
  columns<<<N, N, 0, first>>>(matrix, 0); //~ CS-GPU-01 operation
  cudaMemcpy2DAsync(column, sizeof *column, matrix, N * sizeof *matrix, sizeof *matrix, N, cudaMemcpyDeviceToDevice, second); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  bad = wrong(column, 0);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
