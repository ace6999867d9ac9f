// A kernel's accesses are in functions that are not inlined and longer than the kernel; one stream
// runs it twice.
//# np: 1
//# mpi: none

constexpr int N = 256;

__device__ __noinline__ float mean(const float *p, int i) {
  float left = p[i > 0 ? i - 1 : 0], right = p[i < N - 1 ? i + 1 : i];
  for (int k = 0; k < 4; k++)
    left = left * right + k;
  return left / (right + 1);
}

__device__ __noinline__ void step(const float *p, float *q, int i) {
  float m = mean(p, i);
  if (m > 1)
    q[i] = m;
  else
    q[i] = 1;
}

__global__ void steps(const float *p, float *q) { step(p, q, threadIdx.x); }

int main() {
  float *p, *q;
  cudaMalloc(&p, N * sizeof *p);
  cudaMalloc(&q, N * sizeof *q);
  cudaMemset(p, 0, N * sizeof *p);
  cudaDeviceSynchronize();
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  steps<<<1, N, 0, a>>>(p, q);
  steps<<<1, N, 0, a>>>(q, p);
  cudaDeviceSynchronize();
  cudaFree(p);
  cudaFree(q);
}
