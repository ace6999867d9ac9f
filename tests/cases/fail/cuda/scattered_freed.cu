// Elements are found by indices in memory, and nobody waits for the kernel before the memory is
// freed.
#include <mpi.h>

constexpr int N = 256;

__global__ void scatter(int *p, const int *index) { p[index[threadIdx.x]] = 1; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, first = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int *p, *index;
  cudaMallocManaged(&p, N * sizeof *p);
  cudaMallocManaged(&index, N * sizeof *index);
  for (int i = 0; i < N; i++) {
    p[i] = 0;
    index[i] = N - 1 - i;
  }
  if (rank == 0) {
    scatter<<<1, N>>>(p, index);                       //~ CS-GPU-02 operation //~ CS-GPU-03 operation
    first = p[0];                                      //~ CS-GPU-02 access
    MPI_Send(p, N, MPI_INT, 1, 0, MPI_COMM_WORLD);     //~ CS-GPU-03 access
  } else {
    MPI_Recv(p, N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    first = 0;
  }
  cudaFree(p);
  cudaFree(index);
  MPI_Finalize();
  return first;
}
