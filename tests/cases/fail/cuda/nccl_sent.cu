// A kernel overwrites what NCCL sends, in a stream that does not wait for that.
//# np: 1
//# mpi: mpich
//# gpu: 2
//# flags: -lnccl
#include <cstdio>
#include <mpi.h>
#include <nccl.h>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  constexpr int DEVICES = 2;
  ncclComm_t comms[DEVICES];
  ncclCommInitAll(comms, DEVICES, nullptr);
  cudaStream_t streams[DEVICES], other;
  int *mine[DEVICES], *theirs[DEVICES];
  for (int device = 0; device < DEVICES; device++) {
    cudaSetDevice(device);
    cudaStreamCreateWithFlags(&streams[device], cudaStreamNonBlocking);
    cudaMalloc(&mine[device], N * sizeof(int));
    cudaMalloc(&theirs[device], N * sizeof(int));
    fill<<<1, N, 0, streams[device]>>>(mine[device], device + 1);
  }
  cudaSetDevice(0);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);

  ncclGroupStart();
  for (int device = 0; device < DEVICES; device++) {
    ncclSend(mine[device], N, ncclInt, 1 - device, comms[device], streams[device]);
    ncclRecv(theirs[device], N, ncclInt, 1 - device, comms[device], streams[device]);
  }
  ncclGroupEnd(); //~ CS-GPU-01 operation
  fill<<<1, N, 0, other>>>(mine[0], 3); //~ CS-GPU-01 access
  for (int device = 0; device < DEVICES; device++) {
    cudaSetDevice(device);
    cudaDeviceSynchronize();
    ncclCommDestroy(comms[device]);
  }
  MPI_Finalize();
}
