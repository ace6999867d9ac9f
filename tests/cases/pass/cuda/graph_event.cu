// A graph records an event when its kernel is done; another stream waits for it.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  int *p, value = 1;
  cudaMalloc(&p, N * sizeof *p);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t kernel, record;
  cudaGraphCreate(&graph, 0);
  cudaKernelNodeParams params = {};
  void *args[] = {&p, &value};
  params.func = reinterpret_cast<void *>(fill);
  params.gridDim = dim3(1);
  params.blockDim = dim3(N);
  params.kernelParams = args;
  cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &params);
  cudaGraphAddEventRecordNode(&record, graph, &kernel, 1, event);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, first);
  cudaStreamWaitEvent(second, event, 0);
  fill<<<1, N, 0, second>>>(p, 2);
  cudaDeviceSynchronize();
  MPI_Finalize();
  return 0;
}
