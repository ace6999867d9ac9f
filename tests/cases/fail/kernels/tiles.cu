// Tiles of 8 threads add up values in shared memory, and forget to wait for their own threads.
//# np: 1
//# mpi: none
//# flags: -std=c++17
//# options: --kernel-checks
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int N = 128;

__global__ void sums(int *data) {
  __shared__ int all[N];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int i = threadIdx.x, first = i - tile.thread_rank();
  all[i] = data[i]; //~ CS-KRN-01 cause
  int sum = 0;
  for (int n = 0; n < 8; ++n) sum += all[first + n]; //~ CS-KRN-01 cause
  data[i] = sum;
}

int main() {
  int host[N], *data;
  for (int i = 0; i < N; ++i) host[i] = 1;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  sums<<<1, N>>>(data); //~ CS-KRN-01 access
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  return 0;
}
