// The host waits for the stream before it reads.
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
  nvshmemx_float_get_on_stream(own, there, N, 0, stream);
  cudaStreamSynchronize(stream);
  float first = own[0];
  cudaFreeHost(own);
  nvshmem_free(there);
  nvshmem_finalize();
  return first != 0;
}
