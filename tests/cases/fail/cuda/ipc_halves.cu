// Two ranks write the same elements of one memory, at any time.
//# mpi: mpich
//# prints: the last elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int stride, int value) { p[threadIdx.x * stride] = value; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int *p;
  cudaIpcMemHandle_t handle;
  if (rank == 0) {
    cudaMalloc(&p, N * sizeof *p);
    cudaIpcGetMemHandle(&handle, p);
  }
  MPI_Bcast(&handle, sizeof handle, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 1) cudaIpcOpenMemHandle((void **)&p, handle, cudaIpcMemLazyEnablePeerAccess);

  // Each rank has every other element.
  if (rank == 0) fill<<<1, N / 2>>>(p, 2, 10); //~ CS-GPU-10 access
  if (rank == 1) fill<<<1, N / 2>>>(p + 0, 2, 11); //~ CS-GPU-10 operation
  cudaDeviceSynchronize();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    int last[2];
    cudaMemcpy(last, p + N - 2, sizeof last, cudaMemcpyDeviceToHost);
    bad = last[0] != 10 || last[1] != 11;
    cudaIpcCloseMemHandle(p);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) cudaFree(p);

  if (bad) printf("the last elements are wrong\n");
  MPI_Finalize();
  return bad;
}
