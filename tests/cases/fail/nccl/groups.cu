// A group that does not end, and an end of a group that has not begun.
//# mpi: none
//# np: 1
//# gpu: 2
//# flags: -lnccl -x c
#include <cuda_runtime.h>
#include <nccl.h>

#define N 64

static int exchange(float *parts[2], ncclComm_t comms[2], cudaStream_t streams[2], int count) {
  ncclGroupStart(); //~ CS-NCC-03 operation
  for (int device = 0; device < 2; device++) {
    if (count == 0) return 0;
    ncclSend(parts[device], count, ncclFloat, 1 - device, comms[device], streams[device]);
    ncclRecv(parts[device] + N, count, ncclFloat, 1 - device, comms[device], streams[device]);
  }
  return ncclGroupEnd();
}

int main(void) {
  ncclComm_t comms[2];
  cudaStream_t streams[2];
  float *parts[2];
  ncclCommInitAll(comms, 2, NULL);
  for (int device = 0; device < 2; device++) {
    cudaSetDevice(device);
    cudaStreamCreate(&streams[device]);
    cudaMalloc((void **)&parts[device], 2 * N * sizeof(float));
    cudaMemsetAsync(parts[device], 0, 2 * N * sizeof(float), streams[device]);
  }
  exchange(parts, comms, streams, N);
  ncclGroupEnd(); //~ CS-NCC-03 operation
  for (int device = 0; device < 2; device++) cudaStreamSynchronize(streams[device]);
  for (int device = 0; device < 2; device++) ncclCommDestroy(comms[device]);
  exchange(parts, comms, streams, 0);
  return 0;
}
