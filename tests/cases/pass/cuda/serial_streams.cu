// Without MPI: a kernel waits for the copy of what it reads.
//# np: 1
//# mpi: none
#include <cstdio>

constexpr int N = 256;

__global__ void twice(int *out, const int *in) { out[threadIdx.x] = 2 * in[threadIdx.x]; }

int main() {
  cudaStream_t copying, computing;
  cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking);
  int *host, *in, *out;
  cudaMallocHost(&host, N * sizeof *host);
  cudaMalloc(&in, N * sizeof *in);
  cudaMalloc(&out, N * sizeof *out);
  for (int i = 0; i < N; i++) host[i] = i;

  cudaMemcpyAsync(in, host, N * sizeof *in, cudaMemcpyHostToDevice, copying);
  cudaStreamSynchronize(copying);
  twice<<<1, N, 0, computing>>>(out, in);
  cudaDeviceSynchronize();

  cudaMemcpy(host, out, N * sizeof *host, cudaMemcpyDeviceToHost);
  printf("%d\n", host[N - 1]);
}
