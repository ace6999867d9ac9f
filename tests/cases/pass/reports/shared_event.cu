// Each field has an event of its own for its transfer (Oceananigans.jl, pull request 5803).
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void unpack(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }

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
  int bad = 0;
  cudaStream_t compute, transfer;
  cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&transfer, cudaStreamNonBlocking);
  cudaEvent_t event[2];
  for (cudaEvent_t &one : event) cudaEventCreateWithFlags(&one, cudaEventDisableTiming);
  cudaEvent_t *first = &event[0], *second = &event[1];
  int *received, *halo, *other;
  cudaMalloc(&received, N * sizeof *received);
  cudaMalloc(&halo, N * sizeof *halo);
  cudaMalloc(&other, N * sizeof *other);
  cudaMemset(received, 0, N * sizeof *received);
  cudaDeviceSynchronize();

  fill<<<1, N, 0, transfer>>>(received, 5);
  cudaEventRecord(*first, transfer);
  fill<<<1, N, 0, compute>>>(other, 6);
  cudaEventRecord(*second, compute);
  cudaStreamWaitEvent(compute, *first, 0);
  unpack<<<1, N, 0, compute>>>(halo, received);
  cudaDeviceSynchronize();
  bad = wrong(halo, 5);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
