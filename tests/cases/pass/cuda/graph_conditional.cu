// A graph repeats its body until a kernel says that it is enough; the host sends what that has
// written, when it has waited.
//# mpi: mpich
//# flags: -rdc=true
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void increment(int *p) { p[threadIdx.x]++; }

__global__ void count_down(int *rest, cudaGraphConditionalHandle more) { cudaGraphSetConditional(more, --*rest > 0); }

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

// The graphs that a node chooses from, by a condition that is 1 when the graph is launched.
static cudaGraph_t *bodies(cudaGraph_t graph, cudaGraphConditionalNodeType type, unsigned size,
                           cudaGraphConditionalHandle *condition) {
  cudaGraphNode_t node;
  cudaGraphNodeParams params = {};
  cudaGraphConditionalHandleCreate(condition, graph, 1, cudaGraphCondAssignDefault);
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = *condition;
  params.conditional.type = type;
  params.conditional.size = size;
  cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params);
  return params.conditional.phGraph_out;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  int *p, *other, *rest, times = 7;
  cudaMalloc(&p, N * sizeof *p);
  cudaMalloc(&other, N * sizeof *other);
  cudaMalloc(&rest, sizeof *rest);
  cudaMemset(p, 0, N * sizeof *p);
  cudaMemset(other, 0, N * sizeof *other);
  cudaMemcpy(rest, &times, sizeof times, cudaMemcpyHostToDevice);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphConditionalHandle more, second;
  cudaGraphCreate(&graph, 0);
  cudaGraph_t *body = bodies(graph, cudaGraphCondTypeWhile, 1, &more);
  cudaStreamBeginCaptureToGraph(stream, body[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal);
  increment<<<1, N, 0, stream>>>(p);
  count_down<<<1, 1, 0, stream>>>(rest, more);
  cudaStreamEndCapture(stream, &body[0]);
  // Beside it, a graph of number 0, which a condition of 1 does not choose.
  cudaGraph_t *choice = bodies(graph, cudaGraphCondTypeSwitch, 1, &second);
  cudaStreamBeginCaptureToGraph(stream, choice[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal);
  increment<<<1, N, 0, stream>>>(other);
  cudaStreamEndCapture(stream, &choice[0]);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  static int in[N];
  // That graph is not launched, so nothing writes there.
  MPI_Sendrecv(other, N, MPI_INT, peer, 0, in, N, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  cudaStreamSynchronize(stream);
  MPI_Sendrecv(p, N, MPI_INT, peer, 0, in, N, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  bad = in[N - 1] != 7;
  cudaStreamSynchronize(stream);
  bad += wrong(p, 7) + wrong(other, 0);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
