// Ranks agree by MPI before they reduce by NCCL. On one of them a kernel takes longer than a
// deadlock is waited for, and the other one waits for it: in the reduction, and in MPI after that.
//# mpi: openmpi
//# gpu: 2
//# options: --stuck-after 1
//# flags: -lnccl
#include <mpi.h>
#include <nccl.h>

constexpr int N = 256;

__global__ void fill(float *p, float value) { p[threadIdx.x] = value; }

__global__ void slow(float *p, unsigned steps) {
  unsigned x = steps;
  for (unsigned i = 0; i < steps; i++) x = x * 1664525 + 1013904223;
  if (x == 1) *p = 0;
}

static void gradients(float *p, ncclComm_t comm, cudaStream_t stream) {
  ncclAllReduce(p, p, N, ncclFloat, ncclSum, comm, stream);
  cudaStreamSynchronize(stream);
}

static int agree(int step) {
  int all = 0;
  MPI_Allreduce(&step, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
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
  step = agree(step);
  constexpr unsigned STEPS = 2000000;
  if (rank == 1) slow<<<1, 1, 0, stream>>>(p, STEPS);
  gradients(p, comm, stream);
  ncclAllReduce(p, p, N, ncclFloat, ncclMax, comm, stream);
  if (rank == 1) slow<<<1, 1, 0, stream>>>(p, STEPS);
  cudaStreamSynchronize(stream);
  step = agree(step);

  cudaMemcpy(&last, p + N - 1, sizeof last, cudaMemcpyDeviceToHost);
  ncclCommDestroy(comm);
  MPI_Finalize();
  return step != 3 || last != 3;
}
