// What is put is overwritten in the same stream, or when the host has waited for it.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

constexpr int N = 256;

__global__ void fill(float *field, float value) {
  field[threadIdx.x] = value;
}

int main() {
  cudaStream_t puts, fills;
  cudaStreamCreate(&puts);
  cudaStreamCreate(&fills);
  nvshmem_init();
  float *there = (float *)nvshmem_malloc(N * sizeof(float));
  float *own = (float *)nvshmem_malloc(N * sizeof(float)), got;
  fill<<<1, N, 0, puts>>>(own, 1);
  nvshmemx_float_put_on_stream(there, own, N, 0, puts);
  fill<<<1, N, 0, puts>>>(own, 2);
  cudaStreamSynchronize(puts);
  fill<<<1, N, 0, fills>>>(own, 3);
  cudaStreamSynchronize(fills);
  nvshmem_getmem(&got, there, sizeof got, 0);
  nvshmem_free(own);
  nvshmem_free(there);
  nvshmem_finalize();
  return got != 1;
}
