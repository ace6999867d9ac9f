// One rank destroys the communicator where the other one reduces once more, and then uses it.
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
  ncclComm_t comm;
  ncclCommInitRank(&comm, size, id, rank);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  double *p;
  cudaMalloc(&p, N * sizeof *p);
  cudaMemsetAsync(p, 0, N * sizeof *p, stream);

  ncclAllReduce(p, p, N, ncclDouble, ncclSum, comm, stream);
  cudaStreamSynchronize(stream);
  if (rank == 0) {
    ncclCommDestroy(comm); //~ CS-NCC-01 access //~ CS-NCC-04 operation
    ncclAllReduce(p, p, N, ncclDouble, ncclSum, comm, stream); //~ CS-NCC-04 access
  } else {
    ncclAllReduce(p, p, N, ncclDouble, ncclSum, comm, stream); //~ CS-NCC-01 operation
    ncclCommAbort(comm);
  }
  MPI_Finalize();
}
