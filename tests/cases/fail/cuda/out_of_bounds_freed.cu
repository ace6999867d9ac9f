// A kernel writes in front of its array, for which only the call waits that frees it.
//# np: 1
//# mpi: none

constexpr int N = 256;

__global__ void shift(int *p) { p[int(threadIdx.x) - 1] = 1; }

int main() {
  int *p;
  cudaMalloc(&p, N * sizeof *p); //~ CS-GPU-09 operation
  shift<<<1, N>>>(p); //~ CS-GPU-09 access
  cudaFree(p);
}
