// A nonblocking put with a signal, to which the other PE replies by one: what was put is
// overwritten then, without a quiet.
//# gpu: 2
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

constexpr int N = 256;

__global__ void fill(float *field, float value) {
  field[threadIdx.x] = value;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvshmem_init();
  float *in = (float *)nvshmem_calloc(N, sizeof(float)), got = 0;
  float *out = (float *)nvshmem_calloc(N, sizeof(float));
  uint64_t *told = (uint64_t *)nvshmem_calloc(2, sizeof(uint64_t));
  for (int step = 1; step <= 3; step++) {
    if (rank == 0) {
      fill<<<1, N, 0, stream>>>(out, step);
      nvshmemx_putmem_signal_nbi_on_stream(in, out, N * sizeof(float), told, step, NVSHMEM_SIGNAL_SET, 1, stream);
    } else {
      nvshmemx_signal_wait_until_on_stream(told, NVSHMEM_CMP_GE, step, stream);
      cudaMemcpyAsync(&got, in, sizeof got, cudaMemcpyDeviceToHost, stream);
      nvshmemx_signal_op_on_stream(told + 1, step, NVSHMEM_SIGNAL_SET, 0, stream);
    }
    if (rank == 0) nvshmemx_signal_wait_until_on_stream(told + 1, NVSHMEM_CMP_GE, step, stream);
  }
  cudaStreamSynchronize(stream);
  nvshmem_barrier_all();
  nvshmem_free(told);
  nvshmem_free(out);
  nvshmem_free(in);
  nvshmem_finalize();
  MPI_Finalize();
  return rank == 1 && got != 3;
}
