// The host puts what a kernel in a stream is still computing.
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
  float *own = (float *)nvshmem_malloc(N * sizeof(float));
  fill<<<1, N, 0, stream>>>(own, 1); //~ CS-GPU-03 operation
  nvshmem_float_put(there, own, N, 0); //~ CS-GPU-03 access
  cudaStreamSynchronize(stream);
  nvshmem_free(own);
  nvshmem_free(there);
  nvshmem_finalize();
  return 0;
}
