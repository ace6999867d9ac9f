// A rank receives into device memory that another rank's kernel still reads, and whose host has
// waited for it when that rank looks.
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>
#include <unistd.h>

constexpr int N = 256;

__global__ void sum(const int *p, int *result) {
  int total = 0;
  for (int i = 0; i < N; i++) total += p[i];
  *result = total;
}

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int *p, *q, *result;
  cudaIpcMemHandle_t handle;
  cudaMalloc(&result, sizeof *result);
  if (rank == 0) {
    cudaMalloc(&p, N * sizeof *p);
    fill<<<1, N>>>(p, 1);
    cudaDeviceSynchronize();
    cudaIpcGetMemHandle(&handle, p);
  }
  MPI_Bcast(&handle, sizeof handle, MPI_BYTE, 0, MPI_COMM_WORLD);

  if (rank == 1) {
    cudaIpcOpenMemHandle((void **)&p, handle, cudaIpcMemLazyEnablePeerAccess);
    cudaMalloc(&q, N * sizeof *q);
    fill<<<1, N>>>(q, 2);
    cudaDeviceSynchronize();
    sum<<<1, 1>>>(p, result); //~ CS-GPU-10 operation
    MPI_Send(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Send(q, N, MPI_INT, 0, 0, MPI_COMM_WORLD);
    int total;
    cudaMemcpy(&total, result, sizeof total, cudaMemcpyDeviceToHost);
    bad = total != N;
    cudaIpcCloseMemHandle(p);
  } else {
    MPI_Recv(nullptr, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(300000);
    MPI_Recv(p, N, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-GPU-10 access
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) cudaFree(p);

  if (bad) printf("the sum is wrong\n");
  MPI_Finalize();
  return bad;
}
