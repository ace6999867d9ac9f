// A rank sends managed memory that a kernel may still be writing.
//# mpi: openmpi
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

// Elements that have another value.
static int differ(const int *p, int value) {
  int count = 0;
  for (int i = 0; i < N; i++) count += p[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEvent_t done;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  int *p;
  cudaMallocManaged(&p, N * sizeof *p);
  if (rank == 0) {
    fill<<<1, N, 0, stream>>>(p, 1); //~ CS-GPU-03 operation
    cudaEventRecord(done, stream);
    MPI_Send(p, N, MPI_INT, peer, 0, MPI_COMM_WORLD); //~ CS-GPU-03 access
  } else {
    MPI_Recv(p, N, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bad = differ(p, 1);
  }
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
