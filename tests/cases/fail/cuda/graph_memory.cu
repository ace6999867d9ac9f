// Memory that a graph allocates is given back while another branch may write it, and read
// afterwards.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

__global__ void copy(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }

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

  int *out, *first, *last;
  cudaMalloc(&out, N * sizeof *out);
  cudaStream_t stream, second;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  cudaMallocAsync(&first, N * sizeof *first, stream);
  cudaMallocAsync(&last, N * sizeof *last, stream);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(second, fork, 0);
  fill<<<1, N, 0, second>>>(first, 1); //~ CS-GPU-07 operation
  cudaEventRecord(join, second);
  cudaFreeAsync(first, stream); //~ CS-GPU-07 release
  cudaStreamWaitEvent(stream, join, 0);
  fill<<<1, N, 0, stream>>>(last, 2);
  cudaFreeAsync(last, stream); //~ CS-GPU-06 release
  copy<<<1, N, 0, stream>>>(out, last); //~ CS-GPU-06 access
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int step = 0; step < 3; step++) cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  bad = wrong(out, 2);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
