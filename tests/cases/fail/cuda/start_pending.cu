// A kernel reads the buffer of a persistent receive that is under way.
//# mpi: openmpi
//# seed: 2
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void copy(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x]; }

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
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p);
  int *q;
  cudaMalloc(&q, N * sizeof *q);
  MPI_Request request;
  fill<<<1, N>>>(p, 1 - rank);
  cudaDeviceSynchronize();
  if (rank == 0) MPI_Send_init(p, N, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  else MPI_Recv_init(p, N, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Start(&request); //~ CS-GPU-04 operation
  if (rank == 1) copy<<<1, N>>>(q, p); //~ CS-GPU-04 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  cudaDeviceSynchronize();
  if (rank == 1) bad = wrong(q, 1);
  MPI_Request_free(&request);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
