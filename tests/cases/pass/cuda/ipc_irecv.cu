// One rank receives into its memory, and another one's kernel writes it there when the operation is
// complete.
#include <mpi.h>

constexpr int N = 256;

__global__ void fill(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, *p;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaIpcMemHandle_t handle;
  if (rank == 0) {
    cudaMalloc(&p, N * sizeof *p);
    cudaMemset(p, 0, N * sizeof *p);
    cudaDeviceSynchronize();
    cudaIpcGetMemHandle(&handle, p);
  }
  MPI_Bcast(&handle, sizeof handle, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 1) cudaIpcOpenMemHandle((void **)&p, handle, cudaIpcMemLazyEnablePeerAccess);
  int host[N] = {};
  if (rank == 0) {
    MPI_Request request;
    MPI_Irecv(p, N, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Send(host, N, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    fill<<<1, N>>>(p);
    cudaDeviceSynchronize();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) cudaIpcCloseMemHandle(p);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) cudaFree(p);
  MPI_Finalize();
  return 0;
}
