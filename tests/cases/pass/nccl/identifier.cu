// An identifier for each communicator.
//# mpi: none
//# np: 1
//# flags: -lnccl
#include <nccl.h>

int main() {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  ncclComm_t one, other;
  ncclCommInitRank(&one, 1, id, 0);
  ncclCommDestroy(one);
  ncclGetUniqueId(&id);
  ncclResult_t result = ncclCommInitRank(&other, 1, id, 0);
  if (result == ncclSuccess) ncclCommDestroy(other);
}
