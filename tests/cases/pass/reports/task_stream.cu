// Before a send the stream of the task is waited for, in which the message is made (MPI.jl, pull
// request 949).
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaStream_t task;
  cudaStreamCreateWithFlags(&task, cudaStreamNonBlocking);
  int *own, *other;
  cudaMalloc(&own, N * sizeof *own);
  cudaMalloc(&other, N * sizeof *other);
  cudaMemset(own, 0, N * sizeof *own);
  cudaMemset(other, 0, N * sizeof *other);
  cudaDeviceSynchronize();
  MPI_Request requests[2];
  MPI_Irecv(other, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  fill<<<1, N, 0, task>>>(own, 7);
  cudaStreamSynchronize(task);
  MPI_Isend(own, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  cudaDeviceSynchronize();
  bad = wrong(other, 7);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
