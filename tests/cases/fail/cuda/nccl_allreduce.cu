// What an all-reduce of NCCL writes is copied in another stream, which does not wait for it.
//# np: 1
//# mpi: openmpi
//# flags: -lnccl
#include <cstdio>
#include <mpi.h>
#include <nccl.h>

constexpr int N = 256;

__global__ void fill(float *p, float value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  ncclComm_t comm;
  ncclCommInitAll(&comm, 1, nullptr);
  cudaStream_t reducing, copying;
  cudaStreamCreateWithFlags(&reducing, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking);
  float *part, *sum, *host;
  cudaMalloc(&part, N * sizeof *part);
  cudaMalloc(&sum, N * sizeof *sum);
  cudaMallocHost(&host, N * sizeof *host);

  fill<<<1, N, 0, reducing>>>(part, 2);
  ncclAllReduce(part, sum, N, ncclFloat, ncclSum, comm, reducing); //~ CS-GPU-01 operation
  cudaMemcpyAsync(host, sum, N * sizeof *host, cudaMemcpyDeviceToHost, copying); //~ CS-GPU-01 access
  cudaDeviceSynchronize();

  printf("%g\n", host[N - 1]);
  ncclCommDestroy(comm);
  MPI_Finalize();
}
