// A captured kernel stores two elements at once at an odd one.
//# np: 1
//# mpi: none

constexpr int N = 64;

__global__ void pairs(float *p) {
  *reinterpret_cast<float2 *>(p + 2 * threadIdx.x + 1) = make_float2(1, 2);
}

int main() {
  float *p;
  cudaMalloc(&p, (2 * N + 1) * sizeof *p); //~ CS-GPU-09 operation
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  pairs<<<1, N, 0, stream>>>(p); //~ CS-GPU-09 access
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
}
