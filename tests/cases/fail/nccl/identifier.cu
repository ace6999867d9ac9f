// Two communicators by one identifier.
//# mpi: none
//# np: 1
//# flags: -lnccl
#include <nccl.h>

int main() {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  ncclComm_t one, other;
  ncclCommInitRank(&one, 1, id, 0); //~ CS-NCC-05 operation
  ncclCommDestroy(one);
  ncclResult_t result = ncclCommInitRank(&other, 1, id, 0); //~ CS-NCC-05 access
  if (result == ncclSuccess) ncclCommDestroy(other);
}
