// A node is added to a graph that is being captured, but what is captured next does not come after
// it.
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

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  cudaMemset(p, 0, N * sizeof *p);
  cudaDeviceSynchronize();
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t node;
  const cudaGraphNode_t *last;
  size_t count;
  cudaStreamCaptureStatus status;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  increment<<<1, N, 0, stream>>>(p);
  cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &last, nullptr, &count);
  void *args[] = {&p};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void *>(increment);
  params.gridDim = dim3(1);
  params.blockDim = dim3(N);
  params.kernelParams = args;
  cudaGraphAddKernelNode(&node, graph, last, count, &params); //~ CS-GPU-01 operation
  increment<<<1, N, 0, stream>>>(p); //~ CS-GPU-01 access
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  cudaDeviceSynchronize();
  bad = wrong(p, 3);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
