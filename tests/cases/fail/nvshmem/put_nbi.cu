// A kernel, and the host, overwrite what a nonblocking put of the host has not finished with.
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
  nvshmem_float_put_nbi(there, own, N, 0); //~ CS-GPU-01 operation
  fill<<<1, N, 0, stream>>>(own, 2); //~ CS-GPU-01 access
  cudaStreamSynchronize(stream);
  nvshmem_float_put_nbi(there, host, N, 0); //~ CS-GPU-02 operation
  host[0] = 1; //~ CS-GPU-02 access
  nvshmem_quiet();
  cudaFreeHost(host);
  nvshmem_free(own);
  nvshmem_free(there);
  nvshmem_finalize();
  return 0;
}
