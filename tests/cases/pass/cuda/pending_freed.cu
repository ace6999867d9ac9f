// Memory of a device is given back when MPI has received into it, and when the window is gone.
//# mpi: openmpi
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, n = 1 << 17;
  double *values, *window;
  MPI_Win win;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaMalloc(&values, n * sizeof(double));
  cudaMemset(values, 0, n * sizeof(double));
  cudaDeviceSynchronize();
  if (rank == 0) {
    MPI_Irecv(values, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(values, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  }
  cudaFree(values);
  cudaMalloc(&window, 64 * sizeof(double));
  MPI_Win_create(window, 64 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  cudaFree(window);
  MPI_Finalize();
  return 0;
}
