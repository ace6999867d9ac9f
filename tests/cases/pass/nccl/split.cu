// On communicators that are made by splits, ranks pass the same roots.
//# mpi: mpich
//# gpu: 2
//# flags: -lnccl
#include <mpi.h>
#include <nccl.h>

constexpr int N = 64;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  cudaSetDevice(rank);
  ncclUniqueId id;
  if (rank == 0) ncclGetUniqueId(&id);
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  ncclComm_t comm, one, other;
  ncclCommInitRank(&comm, size, id, rank);
  ncclCommSplit(comm, 0, rank, &one, nullptr);
  ncclCommSplit(comm, 3, -rank, &other, nullptr);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  cudaMemsetAsync(p, 0, N * sizeof *p, stream);

  ncclBroadcast(p, p, N, ncclInt, 1, one, stream);
  ncclReduce(p, p, N, ncclInt, ncclSum, 1, other, stream);

  // The first communicator is used in another order of arguments, and one rank gets none of the
  // last.
  ncclBroadcast(p, p, N, ncclInt, 0, comm, stream);
  ncclComm_t own;
  ncclCommSplit(comm, rank == 0 ? 0 : NCCL_SPLIT_NOCOLOR, 0, &own, nullptr);
  if (rank == 0) ncclAllReduce(p, p, N, ncclInt, ncclSum, own, stream);
  cudaStreamSynchronize(stream);
  if (rank == 0) ncclCommDestroy(own);
  ncclCommDestroy(other);
  ncclCommDestroy(one);
  ncclCommDestroy(comm);
  MPI_Finalize();
}
