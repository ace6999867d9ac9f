// Barriers and signals of NVSHMEM order what ranks do to each other's windows of MPI. The target of
// a flush is not in MPI, where MPICH's would have to be.
//# mpi: openmpi
//# gpu: 2
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>
#include <unistd.h>

constexpr int N = 64;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, *field, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvshmem_init();
  uint64_t *told = (uint64_t *)nvshmem_calloc(1, sizeof(uint64_t));
  MPI_Win win;
  MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &field, &win);
  MPI_Win_lock_all(0, win);
  // The others are in the barrier by then.
  if (rank == 0) usleep(200000);
  for (int i = 0; i < N; i++) field[i] = -1;
  MPI_Win_sync(win);
  nvshmem_barrier_all();

  int mine = rank + 1;
  MPI_Put(&mine, 1, MPI_INT, 1 - rank, rank, 1, MPI_INT, win);
  MPI_Win_flush(1 - rank, win);
  nvshmem_barrier_all();
  MPI_Win_sync(win);
  bool wrong = field[1 - rank] != 2 - rank;

  // And by a signal that a stream puts and another one waits for.
  if (rank == 0) {
    MPI_Put(&mine, 1, MPI_INT, 1, 8, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
    nvshmemx_putmem_signal_on_stream(told, told, 0, told, 1, NVSHMEM_SIGNAL_SET, 1, stream);
    cudaStreamSynchronize(stream);
  } else {
    nvshmemx_signal_wait_until_on_stream(told, NVSHMEM_CMP_GE, 1, stream);
    cudaStreamSynchronize(stream);
    MPI_Win_sync(win);
    value = field[8];
    wrong |= value != 1;
  }
  MPI_Win_unlock_all(win);
  nvshmem_barrier_all();
  MPI_Win_free(&win);
  nvshmem_free(told);
  nvshmem_finalize();
  MPI_Finalize();
  return wrong;
}
