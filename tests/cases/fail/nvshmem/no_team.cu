// A PE that is not in a team makes a call of it.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  nvshmem_team_t team = NVSHMEM_TEAM_INVALID;
  nvshmem_team_sync(team); //~ CS-SHM-03 operation
  nvshmem_finalize();
  return 0;
}
