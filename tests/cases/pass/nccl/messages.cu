// Sides of messages agree about their bytes.
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
  double *p;
  cudaMalloc(&p, 2 * N * sizeof *p);
  cudaMemsetAsync(p, 0, 2 * N * sizeof *p, stream);

  if (rank == 0) {
    ncclSend(p, N, ncclDouble, 1, comm, stream);
    ncclSend(p, N, ncclDouble, 1, comm, stream);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    ncclRecv(p, N * sizeof *p, ncclChar, 0, comm, stream);
    ncclRecv(p, N, ncclDouble, 0, comm, stream);
  }

  // To and from each other, and oneself, in one group.
  ncclGroupStart();
  for (int peer = 0; peer < size; peer++) {
    ncclSend(p, N - rank, ncclDouble, peer, comm, stream);
    ncclRecv(p + N, N - peer, ncclDouble, peer, comm, stream);
  }
  ncclGroupEnd();
  cudaStreamSynchronize(stream);
  ncclCommDestroy(comm);
  MPI_Finalize();
}
