// Kernels, templates of them, managed memory and variables, host code that hooks go into.
#include <cstdio>
#include <cuda_runtime.h>

#ifdef __CUDA_ARCH__
#if defined(__SANITIZE_THREAD__)
#error "device code is compiled with options for the host"
#endif
#endif

__managed__ int total;

__global__ void square(int *out, const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}

template <typename T> __global__ void sum(const T *in, int n) {
  for (int i = 0; i < n; i++) total += in[i];
}

static int add(const int *values, int n) {
  int result = 0;
  for (int i = 0; i < n; i++) result += values[i];
  return result;
}

int main() {
  int *in, *out;
  if (cudaMallocManaged(&in, 64 * sizeof *in) || cudaMallocManaged(&out, 64 * sizeof *out)) return 1;
  for (int i = 0; i < 64; i++) in[i] = i;
  square<<<2, 32>>>(out, in, 64);
  sum<int><<<1, 1>>>(out, 64);
  if (cudaDeviceSynchronize()) return 2;
  printf("%d %d\n", add(out, 64), total);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
