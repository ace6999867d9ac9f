// A value is handed on by a release and an acquire of the scope of the device.
//# np: 1
//# mpi: none
//# flags: -std=c++17
//# options: --kernel-checks
#include <cuda/atomic>

constexpr auto SCOPE = cuda::thread_scope_device;

__global__ void pass(int *value, int *flag, int *out) {
  cuda::atomic_ref<int, SCOPE> ready(*flag);
  if (blockIdx.x == 0) {
    *value = 42;
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    *out = *value;
  }
}

int main() {
  int *value, *flag, *out, result;
  cudaMalloc(&value, sizeof *value);
  cudaMalloc(&flag, sizeof *flag);
  cudaMalloc(&out, sizeof *out);
  cudaMemset(flag, 0, sizeof *flag);
  pass<<<2, 1>>>(value, flag, out);
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(value);
  cudaFree(flag);
  cudaFree(out);
  return result != 42;
}
