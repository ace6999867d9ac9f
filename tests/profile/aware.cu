/* MPI on memory of devices: the transfers are between the devices. Each rank has one. */
#include <cuda_runtime.h>
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  cudaSetDevice(rank);
  double *out, *in, *host = new double[100]();
  cudaMalloc(&out, 100 * sizeof(double));
  cudaMalloc(&in, 100 * sizeof(double));
  cudaMemset(out, 0, 100 * sizeof(double));
  cudaDeviceSynchronize();
  int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Sendrecv(out, 100, MPI_DOUBLE, to, 1, in, 100, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(out, 10, MPI_DOUBLE, to, 2, host, 10, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Bcast(in, 50, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Win win;
  MPI_Win_create(in, 100 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(out, 5, MPI_DOUBLE, to, 0, 5, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  cudaFree(in);
  cudaFree(out);
  delete[] host;
  MPI_Finalize();
}
