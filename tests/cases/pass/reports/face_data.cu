// Face data are packed in the default stream and sent when it has been waited for (MFEM, pull
// request 4253).
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void pack(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }

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
  int *field, *faces, *neighbour;
  cudaMalloc(&field, N * sizeof *field);
  cudaMalloc(&faces, N * sizeof *faces);
  cudaMalloc(&neighbour, N * sizeof *neighbour);
  fill<<<1, N>>>(field, 3);
  pack<<<1, N>>>(faces, field);
  cudaStreamSynchronize(0);
  MPI_Request requests[2];
  MPI_Irecv(neighbour, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(faces, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  cudaDeviceSynchronize();
  bad = wrong(neighbour, 3);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
