// A value is handed on by a release and an acquire, which is for the wrong scope.
//# np: 1
//# mpi: none
//# flags: -std=c++17
//# options: --kernel-checks
#include <cuda/atomic>

constexpr auto SCOPE = cuda::thread_scope_block;

__global__ void pass(int *value, int *flag, int *out) {
  cuda::atomic_ref<int, SCOPE> ready(*flag);
  if (blockIdx.x == 0) {
    *value = 42; //~ CS-KRN-01 cause
    ready.store(1, cuda::memory_order_release); //~ CS-KRN-01 cause
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) { //~ CS-KRN-01 cause
    }
    *out = *value; //~ CS-KRN-01 cause
  }
}

int main() {
  int *value, *flag, *out, result;
  cudaMalloc(&value, sizeof *value); //~ CS-KRN-01 operation
  cudaMalloc(&flag, sizeof *flag); //~ CS-KRN-01 operation
  cudaMalloc(&out, sizeof *out);
  cudaMemset(flag, 0, sizeof *flag);
  pass<<<2, 1>>>(value, flag, out); //~ CS-KRN-01 access
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(value);
  cudaFree(flag);
  cudaFree(out);
  return result != 42;
}
