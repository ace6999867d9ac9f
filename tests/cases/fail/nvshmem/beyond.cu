// A stream puts a whole array behind the beginning of an allocation of that size.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

constexpr int N = 64;

int main() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvshmem_init();
  float *field = (float *)nvshmem_malloc(N * sizeof(float)); //~ CS-SHM-02 release
  float *own = (float *)nvshmem_calloc(N, sizeof(float));
  nvshmemx_float_put_on_stream(field + 8, own, N, 0, stream); //~ CS-SHM-02 operation
  cudaStreamSynchronize(stream);
  nvshmem_free(own);
  nvshmem_free(field);
  nvshmem_finalize();
  return 0;
}
