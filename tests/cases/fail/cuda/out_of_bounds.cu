// A kernel has more threads than its array has elements, and nobody looks at errors.
//# np: 1
//# mpi: none

constexpr int N = 1000;

__global__ void ones(int *p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = 1;
}

int main() {
  static int host[N];
  int *p;
  cudaMalloc(&p, N * sizeof *p); //~ CS-GPU-09 operation
  ones<<<8, 128>>>(p); //~ CS-GPU-09 access
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(p);
}
