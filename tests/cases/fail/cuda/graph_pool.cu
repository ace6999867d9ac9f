// A graph with memory of its own copies a result out; the host sends that without having waited.
//# prints: elements are wrong
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value + threadIdx.x; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *out, *p;
  cudaMallocHost(&out, N * sizeof *out);
  for (int i = 0; i < N; i++) out[i] = 0;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  cudaMallocAsync(&p, N * sizeof *p, stream);
  fill<<<1, N, 0, stream>>>(p, 7);
  cudaMemcpyAsync(out, p, N * sizeof *p, cudaMemcpyDeviceToHost, stream); //~ CS-GPU-03 operation
  cudaFreeAsync(p, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int step = 0; step < 3; step++) {
    cudaGraphLaunch(exec, stream);
    int in[N];
    MPI_Sendrecv(out, N, MPI_INT, peer, 0, in, N, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-GPU-03 access
    bad += in[N - 1] != N + 6;
    cudaStreamSynchronize(stream);
  }

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
