// A rank sends a column that a kernel may still be writing.
//# mpi: mpich
//# seed: 2
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

// Sets the columns from `begin` on.
__global__ void columns(int *matrix, int begin) {
  int row = blockIdx.x, column = threadIdx.x;
  if (column >= begin) matrix[row * N + column] = row + 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *matrix;
  cudaMalloc(&matrix, N * N * sizeof *matrix);
  cudaMemset(matrix, 0, N * N * sizeof *matrix);
  cudaDeviceSynchronize();
  MPI_Datatype column;
  MPI_Type_vector(N, 1, N, MPI_INT, &column);
  MPI_Type_commit(&column);
  static int host[N];
  if (rank == 0) {
    columns<<<N, N, 0, stream>>>(matrix, 0); //~ CS-GPU-03 operation
    MPI_Send(matrix, 1, column, peer, 0, MPI_COMM_WORLD); //~ CS-GPU-03 access
  } else {
    MPI_Recv(host, N, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bad = differ(host, 0);
  }
  cudaDeviceSynchronize();
  MPI_Type_free(&column);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
