// One rank agrees by MPI before it reduces by NCCL, the other one after it has waited for that.
//# mpi: openmpi
//# gpu: 2
//# options: --stuck-after 1
//# flags: -lnccl
#include <cstdio>
#include <mpi.h>
#include <nccl.h>

constexpr int N = 256;

__global__ void fill(float *p, float value) { p[threadIdx.x] = value; }

static void gradients(float *p, ncclComm_t comm, cudaStream_t stream) {
  ncclAllReduce(p, p, N, ncclFloat, ncclSum, comm, stream); //~ CS-DLK-01 operation
  cudaStreamSynchronize(stream); //~ CS-DLK-01 wait
}

static int agree(int step) {
  int all = 0;
  MPI_Allreduce(&step, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD); //~ CS-DLK-01 wait
  return all;
}

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
  float *p, last;
  cudaMalloc(&p, N * sizeof *p);
  fill<<<1, N, 0, stream>>>(p, rank + 1);

  int step = 3;
  if (rank == 0) {
    step = agree(step);
    gradients(p, comm, stream);
  } else {
    gradients(p, comm, stream);
    step = agree(step);
  }

  cudaMemcpy(&last, p + N - 1, sizeof last, cudaMemcpyDeviceToHost);
  printf("%d %g\n", step, last);
  ncclCommDestroy(comm);
  MPI_Finalize();
}
