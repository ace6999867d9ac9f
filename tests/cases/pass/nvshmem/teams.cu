// Four PEs in rows and columns, and in halves that are split off one after the other: each team has
// calls of its own, in an order of its own.
//# np: 4
//# gpu: 4
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

constexpr int N = 4;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvshmem_init();
  int me = nvshmem_my_pe(), host[N], got[2 * N];
  int *own = (int *)nvshmem_malloc(N * sizeof(int));
  int *all = (int *)nvshmem_calloc(2 * N, sizeof(int));
  for (int &value : host) value = me;
  cudaMemcpy(own, host, sizeof host, cudaMemcpyHostToDevice);
  nvshmem_barrier_all();

  nvshmem_team_t row, column;
  nvshmem_team_split_2d(NVSHMEM_TEAM_WORLD, 2, nullptr, 0, &row, nullptr, 0, &column);
  nvshmem_int_fcollect(row, all, own, N);
  cudaMemcpy(got, all, sizeof got, cudaMemcpyDeviceToHost);
  bool wrong = got[0] != me / 2 * 2 || got[2 * N - 1] != me / 2 * 2 + 1;
  // Columns do different things.
  if (me % 2 == 0)
    nvshmem_team_sync(column);
  else
    nvshmem_int_broadcast(column, all, own, N, 1);
  nvshmem_team_destroy(row);
  nvshmem_team_destroy(column);

  for (int turn = 0; turn < 2; turn++) {
    nvshmem_team_t low, high;
    nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, 2, nullptr, 0, &low);
    nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 2, 1, 2, nullptr, 0, &high);
    if (low != NVSHMEM_TEAM_INVALID) {
      nvshmem_int_fcollect(low, all, own, N);
      nvshmem_team_destroy(low);
    } else {
      nvshmemx_barrier_on_stream(high, stream);
      nvshmemx_int_sum_reduce_on_stream(high, all, own, N, stream);
      cudaStreamSynchronize(stream);
      cudaMemcpy(got, all, sizeof got, cudaMemcpyDeviceToHost);
      wrong |= got[0] != 5;
      nvshmem_team_destroy(high);
    }
  }
  nvshmem_barrier_all();
  nvshmem_free(all);
  nvshmem_free(own);
  nvshmem_finalize();
  MPI_Finalize();
  return wrong;
}
