// Streams order ranks: window memory behind a message of streams, work behind one that the host
// lets another rank send, and a rank that waits for a message of a stream whose host waits for that
// rank.
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
  int wrong = 0, token = 1;
  int *shared, *host;
  MPI_Win win;
  MPI_Win_allocate(N * sizeof *shared, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win);
  cudaMallocHost(&host, N * sizeof *host);
  for (int i = 0; i < N; i++) shared[i] = host[i] = -1;
  MPI_Barrier(MPI_COMM_WORLD);

  // The window is read behind a message that came by a stream, and written again behind the answer.
  MPI_Win_lock_all(0, win);
  for (int round = 0; round < 3; round++) {
    if (rank == 0) {
      MPI_Put(&round, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
      MPI_Win_flush(1, win);
      MPIX_Send_enqueue(&token, 1, MPI_INT, 1, 0, comm);
      MPIX_Recv_enqueue(&token, 1, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE);
    } else {
      MPIX_Recv_enqueue(&token, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
      cudaStreamSynchronize(stream);
      wrong |= shared[0] != round;
      shared[0] = -1;
      MPI_Win_sync(win);
      MPIX_Send_enqueue(&token, 1, MPI_INT, 0, 1, comm);
    }
    cudaStreamSynchronize(stream);
  }
  MPI_Win_unlock_all(win);

  // The kernel comes after a message that rank 0 sends when this host lets it.
  if (rank == 1) {
    int flag = 0;
    MPIX_Recv_enqueue(&flag, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
    set<<<1, N, 0, stream>>>(host, 7);
    host[0] = 5;
    MPI_Send(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    cudaStreamSynchronize(stream);
    wrong |= host[0] != 7;
  } else {
    MPI_Recv(&token, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPIX_Send_enqueue(&token, 1, MPI_INT, 1, 2, comm);
    cudaStreamSynchronize(stream);
  }

  // A message by a stream and one by the host are of one communicator.
  MPI_Status status;
  if (rank == 0) {
    MPIX_Send_enqueue(&token, 1, MPI_INT, 1, 4, comm);
    cudaStreamSynchronize(stream);
  } else {
    MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 4, comm, &status);
    wrong |= status.MPI_SOURCE != 0;
  }
  MPI_Barrier(comm);
  MPI_Win_free(&win);
  cudaFreeHost(host);

  MPI_Comm_free(&comm);
  MPIX_Stream_free(&mpi_stream);
  cudaStreamDestroy(stream);
  MPI_Finalize();
  return wrong;
}
