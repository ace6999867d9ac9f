// What is captured does not run: the host may use its memory until the graph is launched.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void increment(int *p) { p[threadIdx.x] += 1; }

// Elements that have another value.
static int differ(const int *p, int value) {
  int count = 0;
  for (int i = 0; i < N; i++) count += p[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMallocManaged(&p, N * sizeof *p);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  increment<<<1, N, 0, stream>>>(p);
  cudaStreamEndCapture(stream, &graph);
  for (int i = 0; i < N; i++) p[i] = 1;
  cudaGraphInstantiate(&exec, graph, 0);
  p[7] = 1;
  cudaGraphLaunch(exec, stream);
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  bad = differ(p, 3);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
