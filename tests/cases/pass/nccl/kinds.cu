// Ranks call the same, from different lines; what is empty is left out.
//# mpi: openmpi
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
  ncclComm_t comm;
  ncclCommInitRank(&comm, size, id, rank);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  float *part, *all;
  cudaMalloc(&part, N * sizeof *part);
  cudaMalloc(&all, 2 * N * sizeof *all);
  cudaMemsetAsync(part, 0, N * sizeof *part, stream);

  ncclAllReduce(part, part, N, ncclFloat, ncclMax, comm, stream);
  ncclAllGather(part, all, N, ncclFloat, comm, stream);
  if (rank == 0)
    ncclReduce(part, all, N, ncclFloat, ncclSum, 0, comm, stream);
  else
    ncclReduce(part, nullptr, N, ncclFloat, ncclSum, 0, comm, stream);
  ncclReduce(part, all, 0, ncclFloat, ncclSum, rank, comm, stream); // nothing

  cudaStreamSynchronize(stream);
  ncclCommDestroy(comm);
  MPI_Finalize();
}
