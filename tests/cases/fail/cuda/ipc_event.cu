// Two ranks work on one's device memory in turn, by events that both know; the second one forgets
// to wait for the first.
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void increment(int *p) { p[threadIdx.x] += 1; }

// What the ranks exchange, once.
struct Handles {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event;
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  cudaStream_t stream, other;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEvent_t mine, theirs;
  cudaEventCreateWithFlags(&mine, cudaEventDisableTiming | cudaEventInterprocess);
  int *own, *p;
  cudaMalloc(&own, N * sizeof *own);
  Handles give, get;
  cudaIpcGetMemHandle(&give.memory, own);
  cudaIpcGetEventHandle(&give.event, mine);
  MPI_Sendrecv(&give, sizeof give, MPI_BYTE, peer, 0, &get, sizeof get, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  cudaIpcOpenEventHandle(&theirs, get.event);

  if (rank == 0) {
    fill<<<1, N, 0, stream>>>(own, 1); //~ CS-GPU-01 operation ranks=0 //~ CS-GPU-10 operation
    cudaEventRecord(mine, stream);
    MPI_Send(nullptr, 0, MPI_INT, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(nullptr, 0, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    cudaStreamWaitEvent(other, theirs);
    increment<<<1, N, 0, other>>>(own); //~ CS-GPU-01 access ranks=0
    MPI_Recv(nullptr, 0, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    cudaDeviceSynchronize();
    int last;
    cudaMemcpy(&last, own + N - 1, sizeof last, cudaMemcpyDeviceToHost);
    bad = last != 3;
  } else {
    cudaIpcOpenMemHandle((void **)&p, get.memory, cudaIpcMemLazyEnablePeerAccess);
    MPI_Recv(nullptr, 0, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    increment<<<1, N, 0, stream>>>(p); //~ CS-GPU-10 access
    cudaEventRecord(mine, stream);
    MPI_Send(nullptr, 0, MPI_INT, peer, 2, MPI_COMM_WORLD);
    cudaDeviceSynchronize();
    MPI_Send(nullptr, 0, MPI_INT, peer, 3, MPI_COMM_WORLD);
    cudaIpcCloseMemHandle(p);
  }
  MPI_Barrier(MPI_COMM_WORLD);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
