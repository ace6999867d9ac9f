// Communicators of devices that nobody destroys.
//# mpi: none
//# np: 1
//# gpu: 2
//# flags: -lnccl
#include <nccl.h>

int main() {
  ncclComm_t comms[2], world[2];
  ncclCommInitAll(world, 2, nullptr);
  ncclCommInitAll(comms, 2, nullptr); //~ CS-NCC-06 operation
  for (ncclComm_t comm : world) ncclCommDestroy(comm);
}
