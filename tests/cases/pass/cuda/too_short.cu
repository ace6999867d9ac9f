// A message of all the memory on the device.
#include <mpi.h>

constexpr int N = 256;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int *p;
  cudaMalloc(&p, 2 * N * sizeof *p);
  cudaMemset(p, 0, 2 * N * sizeof *p);
  cudaDeviceSynchronize();
  if (rank == 0) {
    MPI_Send(p + N, N, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(p, N + 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  cudaFree(p);
  MPI_Finalize();
  return 0;
}
