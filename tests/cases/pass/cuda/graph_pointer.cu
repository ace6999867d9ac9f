// Kernels of nodes that were added write by a pointer from memory: the host waits for them, sends,
// and receives there when they are not launched.
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int **p, int value) { p[0][threadIdx.x] = value; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  int *p, **pointer, value = 5;
  cudaMalloc(&p, N * sizeof *p);
  cudaMalloc(&pointer, sizeof p);
  cudaMemset(p, 0, N * sizeof *p);
  cudaMemcpy(pointer, &p, sizeof p, cudaMemcpyHostToDevice);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaGraph_t graph, outer;
  cudaGraphExec_t exec, launched;
  cudaGraphNode_t node;
  cudaGraphCreate(&graph, 0);
  void *arguments[] = {&pointer, &value};
  cudaKernelNodeParams params = {};
  params.func = (void *)fill;
  params.gridDim = 1;
  params.blockDim = N;
  params.kernelParams = arguments;
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params);
  cudaGraphInstantiate(&exec, graph, 0);
  // Launched where that is captured, it does nothing yet.
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaGraphLaunch(exec, stream);
  cudaStreamEndCapture(stream, &outer);
  cudaGraphInstantiate(&launched, outer, 0);
  static int in[N];
  MPI_Sendrecv(p, N, MPI_INT, peer, 0, in, N, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  bad += in[N - 1] != 0;
  cudaGraphLaunch(launched, stream);
  cudaStreamSynchronize(stream);
  MPI_Sendrecv(p, N, MPI_INT, peer, 0, in, N, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  bad += in[N - 1] != 5;
  cudaStreamSynchronize(stream);
  MPI_Request request;
  MPI_Irecv(p, N, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Send(in, N, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
