// A rank receives twice as much as is sent, and other elements.
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
    ncclSend(p, N, ncclDouble, 1, comm, stream); //~ CS-NCC-02 operation
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    ncclRecv(p, N * sizeof *p, ncclChar, 0, comm, stream);
    ncclRecv(p, 2 * N, ncclDouble, 0, comm, stream); //~ CS-NCC-02 access
  }

  // Whatever the library does with it.
  MPI_Barrier(MPI_COMM_WORLD);
  ncclCommAbort(comm);
  MPI_Finalize();
}
