// The streams of a group of NCCL calls wait for each other before and after it (NCCL user guide,
// "CUDA Stream Semantics").
//# np: 1
//# mpi: openmpi
//# flags: -lnccl
#include <cstdio>
#include <mpi.h>
#include <nccl.h>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  ncclComm_t comm;
  ncclCommInitAll(&comm, 1, nullptr);
  cudaStream_t sending, receiving;
  cudaStreamCreateWithFlags(&sending, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&receiving, cudaStreamNonBlocking);
  int *mine, *theirs, *host;
  cudaMalloc(&mine, N * sizeof *mine);
  cudaMalloc(&theirs, N * sizeof *theirs);
  cudaMallocHost(&host, N * sizeof *host);

  fill<<<1, N, 0, sending>>>(mine, 2);
  fill<<<1, N, 0, receiving>>>(theirs, 1);
  ncclGroupStart();
  ncclSend(mine, N, ncclInt, 0, comm, sending);
  ncclRecv(theirs, N, ncclInt, 0, comm, receiving);
  ncclGroupEnd();
  cudaMemcpyAsync(host, theirs, N * sizeof *host, cudaMemcpyDeviceToHost, sending);
  fill<<<1, N, 0, receiving>>>(mine, 3);
  cudaDeviceSynchronize();

  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += host[i] != 2;
  if (wrong) printf("%d elements are wrong\n", wrong);
  ncclCommDestroy(comm);
  MPI_Finalize();
  return wrong != 0;
}
