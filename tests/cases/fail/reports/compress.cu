// Contributions are added up by a kernel, and those of other ranks sent before it is done; with
// messages staged through the host the copy had waited (deal.II, issue 7713).
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void contribute(int *to, int value) { atomicAdd(&to[threadIdx.x], value); }

__global__ void contribute_all(int *to, const int *from) { to[threadIdx.x] += from[threadIdx.x]; }

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
  int *ghosts, *import, *owned;
  cudaMalloc(&ghosts, N * sizeof *ghosts);
  cudaMalloc(&import, N * sizeof *import);
  cudaMalloc(&owned, N * sizeof *owned);
  fill<<<1, N>>>(owned, 0);
  cudaMemset(ghosts, 0, N * sizeof *ghosts);
  cudaDeviceSynchronize();
  for (int step = 1; step <= 2; step++) {
    MPI_Request requests[2];
    MPI_Irecv(import, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    contribute<<<1, N>>>(ghosts, 1); //~ CS-GPU-03 operation
    MPI_Isend(ghosts, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]); //~ CS-GPU-03 access
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    contribute_all<<<1, N>>>(owned, import);
    // The next receive writes what this reads.
    cudaDeviceSynchronize();
  }
  bad = wrong(owned, 3);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
