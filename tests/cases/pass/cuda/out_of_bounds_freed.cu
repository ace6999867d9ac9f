// A kernel writes all of its array, for which only the call waits that frees it.
//# np: 1
//# mpi: none

constexpr int N = 256;

__global__ void shift(int *p) { p[threadIdx.x] = 1; }

int main() {
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  shift<<<1, N>>>(p);
  cudaFree(p);
}
