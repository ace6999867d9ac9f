// nvshmem_quiet, or a barrier, comes before what is put is overwritten.
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
  float *own = (float *)nvshmem_malloc(N * sizeof(float)), *host;
  cudaMallocHost(&host, N * sizeof(float));
  for (int i = 0; i < N; i++) host[i] = i;
  fill<<<1, N, 0, stream>>>(own, 1);
  cudaStreamSynchronize(stream);
  nvshmem_float_put_nbi(there, own, N, 0);
  nvshmem_quiet();
  fill<<<1, N, 0, stream>>>(own, 2);
  cudaStreamSynchronize(stream);
  nvshmem_float_put_nbi(there, host, N, 0);
  nvshmem_barrier_all();
  host[0] = 1;
  nvshmem_putmem_nbi(there, own, 4, 0);
  nvshmem_putmem_nbi(there + 4, host, 4, 0);
  nvshmem_free(own);
  cudaFreeHost(host);
  nvshmem_free(there);
  nvshmem_finalize();
  return 0;
}
