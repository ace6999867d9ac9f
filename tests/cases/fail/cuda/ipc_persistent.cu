// One rank sends its memory again and again, and another one's kernel writes it while an operation
// is active.
//# mpi: openmpi
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
  MPI_Request request;
  if (rank == 0) MPI_Send_init(p, N, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 3; i++) {
    if (rank == 0) {
      MPI_Start(&request); //~ CS-GPU-10 operation
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(host, N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Barrier(MPI_COMM_WORLD);
      fill<<<1, N>>>(p); //~ CS-GPU-10 access
      cudaDeviceSynchronize();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) MPI_Request_free(&request);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) cudaIpcCloseMemHandle(p);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) cudaFree(p);
  MPI_Finalize();
  return 0;
}
