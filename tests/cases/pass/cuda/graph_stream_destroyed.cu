// A stream joins a capture and is destroyed before that ends: its kernel is in the graph.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void add(int *p) { p[threadIdx.x] += 1; }

// Puts two kernels behind what is in a stream, the second by another stream.
static void fork(cudaStream_t stream, int *p) {
  cudaStream_t other;
  cudaEvent_t filled, added;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&added, cudaEventDisableTiming);
  fill<<<1, N, 0, stream>>>(p, 1);
  cudaEventRecord(filled, stream);
  cudaStreamWaitEvent(other, filled, 0);
  add<<<1, N, 0, other>>>(p);
  cudaEventRecord(added, other);
  cudaStreamWaitEvent(stream, added, 0);
  cudaStreamDestroy(other);
  cudaEventDestroy(filled);
  cudaEventDestroy(added);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p, host[N], bad = 0;
  cudaMalloc(&p, N * sizeof *p);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  fork(stream, p);
  bad += cudaStreamEndCapture(stream, &graph) != cudaSuccess;
  bad += cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess;
  for (int round = 0; round < 2; round++) {
    cudaGraphLaunch(exec, stream);
    cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    for (int i = 0; i < N; i++) bad += host[i] != 2;
  }
  if (bad) printf("%d elements are wrong\n", bad);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  MPI_Finalize();
  return bad != 0;
}
