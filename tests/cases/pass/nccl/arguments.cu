// Devices of one process that pass the same roots, reductions and counts.
//# mpi: none
//# np: 1
//# gpu: 2
//# flags: -lnccl -x c
#include <cuda_runtime.h>
#include <nccl.h>

#define N 64

static ncclComm_t comms[2];
static cudaStream_t streams[2];
static float *parts[2];

static void roots(void) {
  ncclGroupStart();
  ncclBroadcast(parts[0], parts[0], N, ncclFloat, 0, comms[0], streams[0]);
  ncclBroadcast(parts[1], parts[1], N, ncclFloat, 0, comms[1], streams[1]);
  ncclGroupEnd();
}

static void reductions(void) {
  ncclGroupStart();
  ncclAllReduce(parts[0], parts[0], N, ncclFloat, ncclSum, comms[0], streams[0]);
  ncclAllReduce(parts[1], parts[1], N, ncclFloat, ncclSum, comms[1], streams[1]);
  ncclGroupEnd();
}

static void counts(void) {
  ncclGroupStart();
  for (int device = 0; device < 2; device++)
    ncclAllReduce(parts[device], parts[device], N, ncclFloat, ncclSum, comms[device], streams[device]);
  ncclGroupEnd();
}

int main(void) {
  ncclCommInitAll(comms, 2, NULL);
  for (int device = 0; device < 2; device++) {
    cudaSetDevice(device);
    cudaStreamCreate(&streams[device]);
    cudaMalloc((void **)&parts[device], N * sizeof(float));
    cudaMemsetAsync(parts[device], 0, N * sizeof(float), streams[device]);
  }
  roots();
  reductions();
  counts();
  for (int device = 0; device < 2; device++) cudaStreamSynchronize(streams[device]);
  for (int device = 0; device < 2; device++) ncclCommDestroy(comms[device]);
  return 0;
}
