// Two of three PEs form a team, and one of these leaves out a call of it.
//# np: 3
//# gpu: 3
//# options: --stuck-after 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

constexpr int N = 4;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  nvshmem_init();
  int *own = (int *)nvshmem_calloc(N, sizeof(int));
  int *all = (int *)nvshmem_calloc(2 * N, sizeof(int));
  nvshmem_team_t ends;
  nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 2, 2, nullptr, 0, &ends);
  if (rank == 0) nvshmem_team_sync(ends); //~ CS-SHM-11 access
  if (ends != NVSHMEM_TEAM_INVALID) {
    nvshmem_int_fcollect(ends, all, own, N); //~ CS-SHM-11 operation
    nvshmem_team_destroy(ends);
  }
  nvshmem_barrier_all();
  nvshmem_free(all);
  nvshmem_free(own);
  nvshmem_finalize();
  MPI_Finalize();
  return 0;
}
