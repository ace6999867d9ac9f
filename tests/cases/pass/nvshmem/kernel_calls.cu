// What kernels may call of NVSHMEM: values, puts and gets of threads and blocks, atomics, signals,
// waits, barriers, and pointers to memory of other PEs.
//# np: 3
//# gpu: 3
//# options: --kernel-checks
//# flags: -lnvshmem_host
#define NVSHMEM_IN_KERNELS
#include "../../../headers/nvshmem.h"
#include <mpi.h>
#include <cstdio>

constexpr int N = 64;

struct Symmetric {
  float field[N], copy[N];
  int number, answer;
  uint64_t count, signal;
};

__device__ void expect(bool holds, int step, int *failed) {
  if (!holds) *failed = step;
}

__global__ void talk(Symmetric *all, float *own, int *failed) {
  int me = nvshmem_my_pe(), pes = nvshmem_n_pes(), right = (me + 1) % pes, left = (me + pes - 1) % pes;
  bool first = threadIdx.x == 0;
  for (int at = (int)threadIdx.x; at < N; at += (int)blockDim.x) own[at] = (float)(1000 * me + at);
  nvshmemx_float_put_nbi_block(all->field, own, N, right);
  nvshmem_quiet();
  nvshmemx_barrier_all_block();
  expect(all->field[threadIdx.x] == (float)(1000 * left + (int)threadIdx.x), 1, failed);

  nvshmemx_float_get_block(own, all->field, N, right);
  expect(own[N - 1] == (float)(1000 * me + N - 1), 2, failed);
  __syncthreads();
  if (first) {
    nvshmem_float_put(all->copy, own, N, left);
    nvshmem_int_p(&all->number, 10 + me, right);
    nvshmem_fence();
    nvshmemx_signal_op(&all->signal, 1, NVSHMEM_SIGNAL_ADD, right);
    nvshmem_signal_wait_until(&all->signal, NVSHMEM_CMP_EQ, 1);
    expect(all->number == 10 + left, 3, failed);
    expect(nvshmem_int_g(&all->number, right) == 10 + me, 4, failed);
    for (int pe = 0; pe < pes; pe++) nvshmem_uint64_atomic_inc(&all->count, pe);
    nvshmem_barrier_all();
    expect(all->count == (uint64_t)pes, 5, failed);
    nvshmem_float_get(own, all->copy, N, left);
    expect(own[1] == (float)(1000 * me + 1), 6, failed);

    // Each PE answers the one before it, the last one begins.
    if (me == pes - 1) nvshmem_int_p(&all->answer, 1, left);
    if (me < pes - 1) {
      nvshmem_int_wait_until(&all->answer, NVSHMEM_CMP_EQ, pes - 1 - me);
      if (me > 0) nvshmem_int_p(&all->answer, pes - me, left);
    }
    nvshmem_sync_all();
    float *theirs = (float *)nvshmem_ptr(all->copy, right);
    theirs[0] = (float)me;
    expect(nvshmem_ptr(all, pes) == nullptr && nvshmem_ptr(all, me) != nullptr, 7, failed);
    nvshmem_barrier_all();
    expect(all->copy[0] == (float)left, 8, failed);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  nvshmem_init();
  Symmetric *all = (Symmetric *)nvshmem_calloc(1, sizeof(Symmetric));
  float *own;
  int *failed, step = -1;
  cudaMalloc(&own, N * sizeof(float));
  cudaMalloc(&failed, sizeof(int));
  cudaMemset(failed, 0, sizeof(int));
  nvshmem_barrier_all();
  talk<<<1, N>>>(all, own, failed);
  cudaMemcpy(&step, failed, sizeof step, cudaMemcpyDeviceToHost);
  nvshmem_barrier_all();
  if (step) printf("PE %d: step %d is wrong\n", rank, step);
  cudaFree(failed);
  cudaFree(own);
  nvshmem_free(all);
  nvshmem_finalize();
  MPI_Finalize();
  return step != 0;
}
