// A host waits for a stream in a barrier, which another PE enters when it has got a message.
//# gpu: 2
//# options: --stuck-after 1
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
    nvshmemx_barrier_all_on_stream(stream); //~ CS-DLK-01 operation
    cudaStreamSynchronize(stream); //~ CS-DLK-01 wait
    MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
    nvshmemx_barrier_all_on_stream(stream);
    cudaStreamSynchronize(stream);
  }
  nvshmem_finalize();
  MPI_Finalize();
  return token != 7;
}
