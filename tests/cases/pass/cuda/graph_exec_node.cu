// A node of a graph that can be launched is given another array than that which another stream
// uses.
//# np: 1
//# mpi: openmpi
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

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int *p, *q;
  cudaMalloc(&p, N * sizeof *p);
  cudaMalloc(&q, N * sizeof *q);
  cudaMemset(p, 0, N * sizeof *p);
  cudaMemset(q, 0, N * sizeof *q);
  cudaDeviceSynchronize();
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t node;
  cudaGraphCreate(&graph, 0);
  void *args[] = {&p};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void *>(increment);
  params.gridDim = dim3(1);
  params.blockDim = dim3(N);
  params.kernelParams = args;
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params);
  cudaGraphInstantiate(&exec, graph, 0);
  args[0] = &q;
  cudaGraphExecKernelNodeSetParams(exec, node, &params);
  increment<<<1, N, 0, first>>>(p);
  cudaGraphLaunch(exec, second);
  cudaDeviceSynchronize();
  bad = wrong(p, 1) + wrong(q, 1);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
