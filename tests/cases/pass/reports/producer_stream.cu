// A library packs, in a stream of its own, behind what the caller's stream writes (GHEX, issue
// 220).
//# mpi: mpich
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
  cudaStream_t user, library;
  cudaStreamCreateWithFlags(&user, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&library, cudaStreamNonBlocking);
  cudaEvent_t written;
  cudaEventCreateWithFlags(&written, cudaEventDisableTiming);
  int *field, *packed, *halo;
  cudaMalloc(&field, N * sizeof *field);
  cudaMalloc(&packed, N * sizeof *packed);
  cudaMalloc(&halo, N * sizeof *halo);
  cudaMemset(field, 0, N * sizeof *field);
  cudaDeviceSynchronize();

  fill<<<1, N, 0, user>>>(field, 4);
  cudaEventRecord(written, user);
  cudaStreamWaitEvent(library, written, 0);
  pack<<<1, N, 0, library>>>(packed, field);
  cudaStreamSynchronize(library);
  MPI_Sendrecv(packed, N, MPI_INT, 1 - rank, 0, halo, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  cudaDeviceSynchronize();
  bad = wrong(halo, 4);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
