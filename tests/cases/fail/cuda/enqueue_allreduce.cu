// A kernel of another stream writes what a stream reduces among ranks, and memory is given back
// meanwhile.
//# mpi: mpich
//# library: mpix_streams
#include "mpix_streams.h"
#include <cuda_runtime.h>
#include <stdio.h>

constexpr int N = 256;

__global__ void set(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  int level, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  MPIX_Stream mpi_stream;
  MPI_Comm comm = with_stream(MPI_COMM_WORLD, stream, &mpi_stream);
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEvent_t reduced;
  cudaEventCreate(&reduced);
  int *sum, *mine, *block = static_cast<int *>(malloc(N * sizeof *block));
  cudaMalloc(&sum, N * sizeof *sum);
  cudaMalloc(&mine, N * sizeof *mine);
  set<<<1, N, 0, stream>>>(mine, rank + 1);
  MPIX_Allreduce_enqueue(mine, sum, N, MPI_INT, MPI_SUM, comm); //~ CS-GPU-01 operation
  set<<<1, N, 0, other>>>(sum, 7); //~ CS-GPU-01 access
  cudaDeviceSynchronize();

  for (int i = 0; i < N; i++) block[i] = rank;
  if (rank == 0) {
    MPIX_Send_enqueue(block, N, MPI_INT, peer, 1, comm); //~ CS-GPU-07 operation
  } else {
    MPIX_Recv_enqueue(block, N, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE); //~ CS-GPU-07 operation
  }
  int wrong = 0;
  void *gone = block;
  free(block); //~ CS-GPU-07 release
  block = static_cast<int *>(malloc(N * sizeof *block));
  wrong = gone == nullptr;
  cudaStreamSynchronize(stream);
  free(block);
  int result = 0;
  cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
  wrong |= result != 7;
  wrong = 0;
  cudaFree(sum);
  cudaFree(mine);
  cudaEventDestroy(reduced);
  cudaStreamDestroy(other);

  MPI_Comm_free(&comm);
  MPIX_Stream_free(&mpi_stream);
  cudaStreamDestroy(stream);
  MPI_Finalize();
  return wrong;
}
