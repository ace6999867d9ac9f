// A stream puts what another stream overwrites at the same time.
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
  float *own = (float *)nvshmem_malloc(N * sizeof(float));
  fill<<<1, N, 0, puts>>>(own, 1);
  nvshmemx_float_put_on_stream(there, own, N, 0, puts); //~ CS-GPU-01 operation
  fill<<<1, N, 0, fills>>>(own, 2); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  nvshmem_free(own);
  nvshmem_free(there);
  nvshmem_finalize();
  return 0;
}
