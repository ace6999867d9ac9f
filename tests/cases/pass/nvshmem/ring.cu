// Kernels, puts with signals, waits and barriers in streams: each PE passes a field around a ring,
// as NVSHMEM's examples do.
//# np: 3
//# gpu: 3
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

constexpr int N = 256;

__global__ void advance(float *out, const float *in) {
  out[threadIdx.x] = in[threadIdx.x] + 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvshmem_init();
  int me = nvshmem_my_pe(), pes = nvshmem_n_pes(), right = (me + 1) % pes;
  float *in = (float *)nvshmem_calloc(N, sizeof(float));
  float *out = (float *)nvshmem_calloc(N, sizeof(float));
  uint64_t *arrived = (uint64_t *)nvshmem_calloc(1, sizeof(uint64_t));
  constexpr int STEPS = 6;
  for (int step = 1; step <= STEPS; step++) {
    advance<<<1, N, 0, stream>>>(out, in);
    nvshmemx_barrier_all_on_stream(stream);
    nvshmemx_putmem_signal_on_stream(in, out, N * sizeof(float), arrived, step, NVSHMEM_SIGNAL_SET, right, stream);
    nvshmemx_signal_wait_until_on_stream(arrived, NVSHMEM_CMP_GE, step, stream);
  }
  float got[N];
  cudaMemcpyAsync(got, in, sizeof got, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  nvshmem_barrier_all();
  nvshmem_free(arrived);
  nvshmem_free(out);
  nvshmem_free(in);
  nvshmem_finalize();
  MPI_Finalize();
  return got[0] != STEPS || got[N - 1] != STEPS;
}
