// Two nodes of a graph use one array; nothing says which is first.
//# np: 1
//# mpi: mpich
//# seed: 3
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void increment(int *p) { p[threadIdx.x] += 1; }

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t set, kernel;
  cudaGraphCreate(&graph, 0);
  cudaMemsetParams zero = {};
  zero.dst = p;
  zero.elementSize = 1;
  zero.width = N * sizeof *p;
  zero.height = 1;
  cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &zero); //~ CS-GPU-01 operation
  cudaKernelNodeParams params = {};
  void *args[] = {&p};
  params.func = reinterpret_cast<void *>(increment);
  params.gridDim = dim3(1);
  params.blockDim = dim3(N);
  params.kernelParams = args;
  cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &params); //~ CS-GPU-01 access
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  bad = wrong(p, 1);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
