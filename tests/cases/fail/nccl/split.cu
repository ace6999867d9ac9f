// On a communicator that is made by a split, ranks pass different roots; on another one of the same
// ranks they do not.
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
  ncclReduce(p, p, N, ncclInt, ncclSum, rank, other, stream); //~ CS-NCC-01 access //~ CS-NCC-01 operation

  // Whatever the library does with it.
  MPI_Barrier(MPI_COMM_WORLD);
  ncclCommAbort(other);
  ncclCommAbort(one);
  ncclCommAbort(comm);
  MPI_Finalize();
}
