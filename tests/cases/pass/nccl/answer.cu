// A rank waits for a message of NCCL that the other one has sent before it waits for one of MPI.
//# mpi: mpich
//# gpu: 2
//# options: --stuck-after 1
//# flags: -lnccl
#include <mpi.h>
#include <nccl.h>

constexpr int N = 256;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, token = 7;
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
  cudaEvent_t received;
  cudaEventCreate(&received);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  cudaMemset(p, rank, N * sizeof *p);
  cudaDeviceSynchronize();

  if (rank == 0) {
    ncclRecv(p, N, ncclInt, 1, comm, stream);
    cudaEventRecord(received, stream);
    cudaEventSynchronize(received);
    MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    ncclSend(p, N, ncclInt, 0, comm, stream);
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  cudaDeviceSynchronize();
  ncclCommDestroy(comm);
  MPI_Finalize();
}
