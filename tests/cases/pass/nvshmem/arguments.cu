// PEs pass the same roots, counts, types and reductions to collectives, whether their streams or
// the hosts make them.
//# gpu: 2
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

constexpr int N = 64;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvshmem_init();
  float *part = (float *)nvshmem_calloc(N, sizeof(float));
  float *sum = (float *)nvshmem_calloc(N, sizeof(float));
  float own[N], result;
  for (float &value : own) value = rank + 1;
  cudaMemcpy(part, own, sizeof own, cudaMemcpyHostToDevice);
  nvshmemx_float_broadcast_on_stream(NVSHMEM_TEAM_WORLD, sum, part, N, 1, stream);
  nvshmemx_float_max_reduce_on_stream(NVSHMEM_TEAM_WORLD, sum, part, N, stream);
  if (rank == 0) {
    nvshmemx_float_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, sum, part, N, stream);
    cudaStreamSynchronize(stream);
  } else {
    cudaStreamSynchronize(stream);
    nvshmem_float_sum_reduce(NVSHMEM_TEAM_WORLD, sum, part, N);
  }
  cudaMemcpy(&result, sum + N - 1, sizeof result, cudaMemcpyDeviceToHost);
  nvshmem_free(sum);
  nvshmem_free(part);
  nvshmem_finalize();
  MPI_Finalize();
  return result != 3;
}
