// Two branches of a captured graph write one array.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t stream, second;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  int *q;
  cudaMalloc(&q, N * sizeof *q);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(second, fork, 0);
  fill<<<1, N, 0, stream>>>(p, 1); //~ CS-GPU-01 operation
  fill<<<1, N, 0, second>>>(p, 2); //~ CS-GPU-01 access
  cudaEventRecord(join, second);
  cudaStreamWaitEvent(stream, join, 0);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  cudaDeviceSynchronize();

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
