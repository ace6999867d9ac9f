// The host reads what a stream is still getting.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

constexpr int N = 256;

int main() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvshmem_init();
  float *there = (float *)nvshmem_calloc(N, sizeof(float)), *own;
  cudaMallocHost(&own, N * sizeof(float));
  nvshmemx_float_get_on_stream(own, there, N, 0, stream); //~ CS-GPU-02 operation
  volatile float first = own[0]; //~ CS-GPU-02 access
  (void)first;
  cudaStreamSynchronize(stream);
  cudaFreeHost(own);
  nvshmem_free(there);
  nvshmem_finalize();
  return 0;
}
