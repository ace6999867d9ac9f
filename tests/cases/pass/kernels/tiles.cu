// Tiles of 8 threads add up values in shared memory, each tile by itself.
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
  all[i] = data[i];
  tile.sync();
  int sum = 0;
  for (int n = 0; n < 8; ++n) sum += all[first + n];
  data[i] = sum;
}

int main() {
  int host[N], *data;
  for (int i = 0; i < N; ++i) host[i] = 1;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  sums<<<1, N>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  for (int i = 0; i < N; ++i)
    if (host[i] != 8) return 1;
  return 0;
}
