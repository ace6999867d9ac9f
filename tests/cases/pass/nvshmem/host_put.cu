// The host waits for the kernel, or leaves the put to its stream.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

constexpr int N = 256;

__global__ void fill(float *field, float value) {
  field[threadIdx.x] = value;
}

int main() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvshmem_init();
  float *there = (float *)nvshmem_malloc(N * sizeof(float));
  float *own = (float *)nvshmem_malloc(N * sizeof(float)), got;
  fill<<<1, N, 0, stream>>>(own, 1);
  cudaStreamSynchronize(stream);
  nvshmem_float_put(there, own, N, 0);
  fill<<<1, N, 0, stream>>>(own, 2);
  nvshmemx_float_put_on_stream(there, own, N, 0, stream);
  cudaStreamSynchronize(stream);
  nvshmem_getmem(&got, there, sizeof got, 0);
  nvshmem_free(own);
  nvshmem_free(there);
  nvshmem_finalize();
  return got != 2;
}
