// A kernel's accesses are in functions that are not inlined and longer than the kernel; two streams run it
// on the same array.
//# np: 1
//# mpi: none

constexpr int N = 256;

__device__ __noinline__ float mean(const float *p, int i) {
  float left = p[i > 0 ? i - 1 : 0], right = p[i < N - 1 ? i + 1 : i];
  for (int k = 0; k < 4; k++)
    left = left * right + k;
  return left / (right + 1);
}

__device__ __noinline__ void step(float *p, int i) {
  float m = mean(p, i);
  if (m > 1)
    p[i] = m;
  else
    p[i] = 1;
}

__global__ void steps(float *p) { step(p, threadIdx.x); }

int main() {
  float *p;
  cudaMalloc(&p, N * sizeof *p);
  cudaMemset(p, 0, N * sizeof *p);
  cudaDeviceSynchronize();
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  steps<<<1, N, 0, a>>>(p); //~ CS-GPU-01 operation
  steps<<<1, N, 0, b>>>(p); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  cudaFree(p);
}
