// Puts, a quiet and a barrier that are captured into a graph, which is launched several times on
// one PE and called one by one on the other.
//# gpu: 2
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

constexpr int N = 64;

__global__ void add(float *field, float value) {
  field[threadIdx.x] += value;
}

static float *there, *own;

static void step(int right, cudaStream_t stream) {
  add<<<1, N, 0, stream>>>(own, 1);
  nvshmemx_float_put_on_stream(there, own, N, right, stream);
  nvshmemx_quiet_on_stream(stream);
  nvshmemx_barrier_all_on_stream(stream);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvshmem_init();
  there = (float *)nvshmem_calloc(N, sizeof(float));
  own = (float *)nvshmem_calloc(N, sizeof(float));
  if (rank == 0) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    step(1, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
    for (int turn = 0; turn < 3; turn++) cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
  } else {
    for (int turn = 0; turn < 3; turn++) step(0, stream);
    cudaStreamSynchronize(stream);
  }
  float got;
  cudaMemcpy(&got, there, sizeof got, cudaMemcpyDeviceToHost);
  nvshmem_barrier_all();
  nvshmem_free(own);
  nvshmem_free(there);
  nvshmem_finalize();
  MPI_Finalize();
  return got != 3;
}
