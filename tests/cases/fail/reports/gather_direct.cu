// Gathered halos are waited for where they are copied to the host; with messages in device memory
// there is no such copy (OP2, pull request 240).
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void gather(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

static const bool direct = true;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  static int staged[N];
  int *data, *buffer, *halo;
  cudaMalloc(&data, N * sizeof *data);
  cudaMalloc(&buffer, N * sizeof *buffer);
  cudaMalloc(&halo, N * sizeof *halo);
  fill<<<1, N>>>(data, 9);
  cudaMemset(buffer, 0, N * sizeof *buffer);
  cudaDeviceSynchronize();

  gather<<<1, N, 0, stream>>>(buffer, data); //~ CS-GPU-03 operation
  if (!direct) {
    cudaMemcpyAsync(staged, buffer, sizeof staged, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
  }
  MPI_Request requests[2];
  MPI_Irecv(halo, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(direct ? buffer : staged, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]); //~ CS-GPU-03 access
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  cudaDeviceSynchronize();
  bad = wrong(halo, 9);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
