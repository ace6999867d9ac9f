// Only PEs of the team make its calls.
//# mpi: none
//# np: 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"

int main() {
  nvshmem_init();
  nvshmem_team_t team = NVSHMEM_TEAM_INVALID;
  nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, 1, nullptr, 0, &team);
  if (team != NVSHMEM_TEAM_INVALID) nvshmem_team_sync(team);
  nvshmem_team_destroy(team);
  nvshmem_finalize();
  return 0;
}
