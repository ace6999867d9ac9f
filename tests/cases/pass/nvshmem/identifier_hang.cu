// Two of three ranks are PEs, by a unique identifier; one sends a message, for which the other one
// waits, before both are in a barrier.
//# np: 3
//# gpu: 3
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

static void be_pe(int me, int pes, const nvshmemx_uniqueid_t &id) {
  int token = 7;
  nvshmemx_init_attr_t attributes = {};
  nvshmemx_set_attr_uniqueid_args(me, pes, &id, &attributes);
  nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes);
  if (me == 0) {
    MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    nvshmem_sync_all();
  } else {
    MPI_Recv(&token, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nvshmem_sync_all();
  }
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
