// Operations that a stream has begun use their buffers until it waits for their requests, whatever
// else is waited for.
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
  int *device, *host;
  cudaMalloc(&device, N * sizeof *device);
  cudaMallocHost(&host, N * sizeof *host);
  MPI_Request request;
  int wrong = 0;

  // A kernel of the same stream.
  set<<<1, N, 0, stream>>>(device, rank);
  if (rank == 0) {
    MPIX_Isend_enqueue(device, N, MPI_INT, peer, 0, comm, &request); //~ CS-GPU-01 operation
  } else {
    MPIX_Irecv_enqueue(device, N, MPI_INT, peer, 0, comm, &request); //~ CS-GPU-01 operation
  }
  set<<<1, N, 0, stream>>>(device, 7); //~ CS-GPU-01 access
  MPIX_Wait_enqueue(&request, MPI_STATUS_IGNORE);
  cudaStreamSynchronize(stream);

  // The host, which has waited for the device.
  MPI_Request requests[2];
  for (int i = 0; i < N; i++) host[i] = i < N / 2 ? rank : -1;
  MPIX_Isend_enqueue(host, N / 2, MPI_INT, peer, 1, comm, &requests[0]);
  MPIX_Irecv_enqueue(host + N / 2, N / 2, MPI_INT, peer, 1, comm, &requests[1]); //~ CS-GPU-02 operation
  cudaDeviceSynchronize();
  if (host[N - 1] != peer) printf("%d\n", host[N - 1]); //~ CS-GPU-02 access
  MPIX_Waitall_enqueue(2, requests, MPI_STATUSES_IGNORE);
  cudaStreamSynchronize(stream);
  cudaFree(device);
  cudaFreeHost(host);

  MPI_Comm_free(&comm);
  MPIX_Stream_free(&mpi_stream);
  cudaStreamDestroy(stream);
  MPI_Finalize();
  return wrong;
}
