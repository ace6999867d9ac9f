// The host uses buffers of messages that a stream sends and receives, without having waited for the
// stream.
//# mpi: mpich
//# library: mpix_streams
#include "mpix_streams.h"
#include <cuda_runtime.h>
#include <stdio.h>

constexpr int N = 256;

int main(int argc, char **argv) {
  int level, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  MPIX_Stream mpi_stream;
  MPI_Comm comm = with_stream(MPI_COMM_WORLD, stream, &mpi_stream);
  int *in, *out;
  cudaMallocHost(&in, N * sizeof *in);
  cudaMallocHost(&out, N * sizeof *out);
  for (int i = 0; i < N; i++) out[i] = rank;
  int wrong = 0;

  if (rank == 0) {
    MPIX_Send_enqueue(out, N, MPI_INT, peer, 0, comm); //~ CS-GPU-02 operation
    out[N - 1] = 7; //~ CS-GPU-02 access
  } else {
    MPIX_Recv_enqueue(in, N, MPI_INT, peer, 0, comm, MPI_STATUS_IGNORE); //~ CS-GPU-02 operation
    if (in[0]) printf("%d\n", in[0]); //~ CS-GPU-02 access
  }
  cudaStreamSynchronize(stream);

  if (rank == 0) {
    MPIX_Recv_enqueue(in, N, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE); //~ CS-GPU-03 operation
    MPI_Send(in, N, MPI_INT, peer, 2, MPI_COMM_WORLD); //~ CS-GPU-03 access
    cudaStreamSynchronize(stream);
    MPIX_Recv_enqueue(out, N, MPI_INT, peer, 3, comm, MPI_STATUS_IGNORE);
    cudaStreamSynchronize(stream);
  } else {
    MPIX_Send_enqueue(out, N, MPI_INT, peer, 1, comm);
    MPI_Request request;
    MPI_Irecv(in, N, MPI_INT, peer, 2, MPI_COMM_WORLD, &request); //~ CS-GPU-04 operation
    MPIX_Send_enqueue(in, N, MPI_INT, MPI_PROC_NULL, 3, comm);
    MPIX_Send_enqueue(in, N, MPI_INT, peer, 3, comm); //~ CS-GPU-04 access
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    cudaStreamSynchronize(stream);
  }
  cudaFreeHost(in);
  cudaFreeHost(out);

  MPI_Comm_free(&comm);
  MPIX_Stream_free(&mpi_stream);
  cudaStreamDestroy(stream);
  MPI_Finalize();
  return wrong;
}
