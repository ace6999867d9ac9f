// A host sends before it waits for a stream that is in a barrier.
//# gpu: 2
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, token = 7;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvshmem_init();
  if (rank == 0) {
    nvshmemx_barrier_all_on_stream(stream);
    MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    cudaStreamSynchronize(stream);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nvshmemx_barrier_all_on_stream(stream);
    cudaStreamSynchronize(stream);
  }
  nvshmem_finalize();
  MPI_Finalize();
  return token != 7;
}
