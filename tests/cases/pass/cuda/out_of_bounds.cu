// A kernel has more threads than its array has elements, and leaves the rest out.
//# np: 1
//# mpi: none

constexpr int N = 1000;

__global__ void ones(int *p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) p[i] = 1;
}

int main() {
  static int host[N];
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  ones<<<8, 128>>>(p);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(p);
  return host[N - 1] - 1;
}
