// A rank waits for its kernel only after it has told another one, by way of a third, that it may go
// on.
//# np: 3
//# mpi: mpich
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
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  if (rank == 0) {
    cudaMalloc(&p, N * sizeof *p);
    cudaIpcGetMemHandle(&handle, p);
  }
  MPI_Bcast(&handle, sizeof handle, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 2) cudaIpcOpenMemHandle((void **)&p, handle, cudaIpcMemLazyEnablePeerAccess);

  if (rank == 0) {
    fill<<<1, N, 0, stream>>>(p); //~ CS-GPU-10 operation
    MPI_Send(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    cudaStreamSynchronize(stream);
  } else if (rank == 1) {
    MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(nullptr, 0, MPI_INT, 2, 0, MPI_COMM_WORLD);
  } else {
    int last;
    MPI_Recv(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    cudaMemcpyAsync(&last, p + N - 1, sizeof last, cudaMemcpyDeviceToHost, stream); //~ CS-GPU-10 access
    cudaStreamSynchronize(stream);
    bad = last != N - 1;
    cudaIpcCloseMemHandle(p);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) cudaFree(p);

  if (bad) printf("the last element is wrong\n");
  MPI_Finalize();
  return bad;
}
