// Signals of kernels order what ranks do to each other's windows of MPI.
//# mpi: openmpi
//# gpu: 2
//# flags: -lnvshmem_host
#define NVSHMEM_IN_KERNELS
#include "../../../headers/nvshmem.h"
#include <mpi.h>

constexpr int N = 64;

__global__ void tell(uint64_t *told, int pe) { nvshmemx_signal_op(told, 1, NVSHMEM_SIGNAL_SET, pe); }

__global__ void hear(uint64_t *told) { nvshmem_signal_wait_until(told, NVSHMEM_CMP_GE, 1); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, *field, mine = 7;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  nvshmem_init();
  uint64_t *told = (uint64_t *)nvshmem_calloc(1, sizeof(uint64_t));
  MPI_Win win;
  MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &field, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < N; i++) field[i] = -1;
  MPI_Win_sync(win);
  nvshmem_barrier_all();
  bool wrong = false;
  if (rank == 0) {
    MPI_Put(&mine, 1, MPI_INT, 1, 8, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
    tell<<<1, 1>>>(told, 1);
    cudaDeviceSynchronize();
  } else {
    hear<<<1, 1>>>(told);
    cudaDeviceSynchronize();
    MPI_Win_sync(win);
    wrong = field[8] != 7;
  }
  MPI_Win_unlock_all(win);
  nvshmem_barrier_all();
  MPI_Win_free(&win);
  nvshmem_free(told);
  nvshmem_finalize();
  MPI_Finalize();
  return wrong;
}
