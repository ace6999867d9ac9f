// What has arrived is unpacked at once, behind the kernel of the caller's stream that reads the
// halo (GHEX, pull request 224).
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void move(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }

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
  cudaStream_t user, library;
  cudaStreamCreateWithFlags(&user, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&library, cudaStreamNonBlocking);
  cudaEvent_t before;
  cudaEventCreateWithFlags(&before, cudaEventDisableTiming);
  int *halo, *copy, *buffer, *own;
  cudaMalloc(&halo, N * sizeof *halo);
  cudaMalloc(&copy, N * sizeof *copy);
  cudaMalloc(&buffer, N * sizeof *buffer);
  cudaMalloc(&own, N * sizeof *own);
  fill<<<1, N>>>(halo, 1);
  fill<<<1, N>>>(own, 2);
  cudaDeviceSynchronize();

  move<<<1, N, 0, user>>>(copy, halo);
  cudaEventRecord(before, user);
  MPI_Request receive, send;
  MPI_Irecv(buffer, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &receive);
  MPI_Isend(own, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &send);
  for (int arrived = 0; !arrived;) MPI_Test(&receive, &arrived, MPI_STATUS_IGNORE);
  cudaStreamWaitEvent(library, before, 0);
  move<<<1, N, 0, library>>>(halo, buffer);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  cudaDeviceSynchronize();
  bad = wrong(copy, 1) + wrong(halo, 2);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
