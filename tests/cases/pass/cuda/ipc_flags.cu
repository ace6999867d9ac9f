// A kernel of one rank waits for one of another, by a flag in the memory that they share.
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void give(int *p, int *flag) {
  p[threadIdx.x] = threadIdx.x;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *(volatile int *)flag = 1;
}

__global__ void take(int *p, int *flag) {
  if (threadIdx.x == 0)
    while (*(volatile int *)flag == 0) {
    }
  __syncthreads();
  __threadfence_system();
  p[threadIdx.x] += 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int *p;
  cudaIpcMemHandle_t handle;
  if (rank == 0) {
    cudaMalloc(&p, (N + 1) * sizeof *p);
    cudaMemset(p, 0, (N + 1) * sizeof *p);
    cudaDeviceSynchronize();
    cudaIpcGetMemHandle(&handle, p);
  }
  MPI_Bcast(&handle, sizeof handle, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 1) cudaIpcOpenMemHandle((void **)&p, handle, cudaIpcMemLazyEnablePeerAccess);

  if (rank == 0) give<<<1, N>>>(p, p + N);
  if (rank == 1) take<<<1, N>>>(p, p + N);
  cudaDeviceSynchronize();
  if (rank == 1) {
    int last;
    cudaMemcpy(&last, p + N - 1, sizeof last, cudaMemcpyDeviceToHost);
    bad = last != N;
    cudaIpcCloseMemHandle(p);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) cudaFree(p);

  if (bad) printf("the last element is wrong\n");
  MPI_Finalize();
  return bad;
}
