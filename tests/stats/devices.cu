// Work of streams of known numbers, on two devices, without MPI; see crates/commsan/tests/stats.rs.
#include <cstring>

constexpr int N = 1024;
constexpr size_t BYTES = N * sizeof(int);

__global__ void add(int *to, const int *from) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] += from[i];
}

int main() {
  int *a, *b, *pinned, *peer;
  static int host[N];
  cudaMalloc(&a, BYTES);
  cudaMalloc(&b, BYTES);
  cudaMallocHost(&pinned, BYTES);
  memset(pinned, 0, BYTES);
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEvent_t done;
  cudaEventCreate(&done);
  cudaMemset(a, 0, BYTES);
  cudaMemset(b, 0, BYTES / 2);
  cudaDeviceSynchronize();
  cudaMemcpyAsync(a, pinned, BYTES, cudaMemcpyHostToDevice, first);
  cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, first);
  for (int i = 0; i < 3; i++) add<<<N / 256, 256, 0, first>>>(a, b);
  cudaEventRecord(done, first);
  cudaStreamWaitEvent(second, done, 0);
  add<<<N / 256, 256, 0, second>>>(b, a);
  cudaEventRecord(done, second);
  cudaEventSynchronize(done);
  cudaStreamSynchronize(first);
  cudaStreamQuery(second);
  cudaMemcpy(host, b, BYTES, cudaMemcpyDeviceToHost);
  cudaSetDevice(1);
  cudaMalloc(&peer, BYTES);
  cudaMemcpyPeer(peer, 1, a, 0, BYTES / 4);
  cudaDeviceSynchronize();
  cudaFree(peer);
  cudaSetDevice(0);
  cudaEventDestroy(done);
  cudaStreamDestroy(second);
  cudaStreamDestroy(first);
  cudaFreeHost(pinned);
  cudaFree(b);
  cudaFree(a);
  return host[0];
}
