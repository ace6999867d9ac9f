// Two of three ranks are PEs, by a unique identifier, and number themselves in reverse; they pass
// the same root.
//# np: 3
//# gpu: 3
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

constexpr int N = 16;

static void be_pe(int me, int pes, const nvshmemx_uniqueid_t &id) {
  nvshmemx_init_attr_t attributes = {};
  nvshmemx_set_attr_uniqueid_args(me, pes, &id, &attributes);
  nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes);
  int *all = (int *)nvshmem_calloc(N, sizeof(int));
  nvshmem_int_broadcast(NVSHMEM_TEAM_WORLD, all, all, N, 1);
  nvshmem_free(all);
  nvshmem_finalize();
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  nvshmemx_uniqueid_t id = {};
  if (rank == 2) nvshmemx_get_uniqueid(&id);
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 2, MPI_COMM_WORLD);
  if (rank > 0) be_pe(2 - rank, 2, id);
  MPI_Finalize();
  return 0;
}
