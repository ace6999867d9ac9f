// A thread starts a kernel and ends; the main thread sends the result.
//# mpi: openmpi
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>
#include <thread>

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
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  if (rank == 0) {
    std::thread([=] {
      fill<<<1, N, 0, stream>>>(p, 1); //~ CS-GPU-03 operation
    }).join();
    MPI_Send(p, N, MPI_INT, peer, 0, MPI_COMM_WORLD); //~ CS-GPU-03 access
  } else {
    MPI_Recv(p, N, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bad = wrong(p, 1);
  }
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
