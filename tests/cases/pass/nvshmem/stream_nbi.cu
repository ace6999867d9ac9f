// The stream waits for the put before the kernel, or the host waits for both.
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
  fill<<<1, N, 0, stream>>>(own, 1);
  nvshmemx_float_put_nbi_on_stream(there, own, N, 0, stream);
  nvshmemx_quiet_on_stream(stream);
  fill<<<1, N, 0, stream>>>(own, 2);
  nvshmemx_float_put_nbi_on_stream(there, own, N, 0, stream);
  nvshmemx_barrier_all_on_stream(stream);
  fill<<<1, N, 0, stream>>>(own, 3);
  nvshmemx_float_put_nbi_on_stream(there, own, N, 0, stream);
  cudaStreamSynchronize(stream);
  nvshmem_quiet();
  fill<<<1, N, 0, stream>>>(own, 4);
  cudaStreamSynchronize(stream);
  nvshmem_free(own);
  nvshmem_free(there);
  nvshmem_finalize();
  return 0;
}
