// A barrier tells another rank that a kernel was launched, not that it is over.
//# mpi: openmpi
//# prints: the last element is wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i;
}

__global__ void twice(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= 2;
}

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

  if (rank == 0) {
    fill<<<2, 128>>>(p, N); //~ CS-GPU-10 operation
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    twice<<<2, 128>>>(p, N); //~ CS-GPU-10 access
    cudaDeviceSynchronize();
    int last;
    cudaMemcpy(&last, p + N - 1, sizeof last, cudaMemcpyDeviceToHost);
    bad = last != 2 * (N - 1);
    cudaIpcCloseMemHandle(p);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) cudaFree(p);

  if (bad) printf("the last element is wrong\n");
  MPI_Finalize();
  return bad;
}
