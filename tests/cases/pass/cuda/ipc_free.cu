// The owner of device memory frees it once the other rank has closed it.
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p) { p[threadIdx.x] = threadIdx.x; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int *p;
  cudaIpcMemHandle_t handle;
  if (rank == 0) {
    cudaMalloc(&p, N * sizeof *p);
    fill<<<1, N>>>(p);
    cudaDeviceSynchronize();
    cudaIpcGetMemHandle(&handle, p);
  }
  MPI_Bcast(&handle, sizeof handle, MPI_BYTE, 0, MPI_COMM_WORLD);

  if (rank == 1) {
    cudaIpcOpenMemHandle((void **)&p, handle, cudaIpcMemLazyEnablePeerAccess);
    int last;
    cudaMemcpy(&last, p + N - 1, sizeof last, cudaMemcpyDeviceToHost);
    bad = last != N - 1;
  }
  if (rank == 1) cudaIpcCloseMemHandle(p);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) cudaFree(p);

  if (bad) printf("the last element is wrong\n");
  MPI_Finalize();
  return bad;
}
