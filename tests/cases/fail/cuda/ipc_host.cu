// A rank sends device memory as soon as another one says that it has waited, but that has not
// waited for this one's work.
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEvent_t mine, theirs;
  cudaEventCreateWithFlags(&mine, cudaEventDisableTiming | cudaEventInterprocess);
  int *own;
  cudaMalloc(&own, N * sizeof *own);
  cudaIpcEventHandle_t give, get;
  cudaIpcGetEventHandle(&give, mine);
  MPI_Sendrecv(&give, sizeof give, MPI_BYTE, peer, 0, &get, sizeof get, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  cudaIpcOpenEventHandle(&theirs, get);

  if (rank == 0) {
    fill<<<1, N, 0, stream>>>(own, 1); //~ CS-GPU-03 operation ranks=0
    cudaEventRecord(mine, stream);
    MPI_Send(nullptr, 0, MPI_INT, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(nullptr, 0, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(own, N, MPI_INT, peer, 3, MPI_COMM_WORLD); //~ CS-GPU-03 access ranks=0
    cudaDeviceSynchronize();
  } else {
    MPI_Recv(nullptr, 0, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    cudaStreamSynchronize(stream);
    MPI_Send(nullptr, 0, MPI_INT, peer, 2, MPI_COMM_WORLD);
    MPI_Recv(own, N, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int last;
    cudaMemcpy(&last, own + N - 1, sizeof last, cudaMemcpyDeviceToHost);
    bad = last != 1;
  }
  MPI_Barrier(MPI_COMM_WORLD);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
