// One stream writes even elements, another odd ones and, at its very end, the last even one:
// indices are in memory, and no two elements of a stream are beside each other.
//# np: 1
//# mpi: none
#include <vector>

constexpr int N = 1 << 14;

__global__ void scatter(int *out, const int *index) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[index[i]] = i;
}

int main() {
  std::vector<int> even(N), odd(N);
  for (int i = 0; i < N; i++) {
    even[i] = 2 * i;
    odd[i] = 2 * i + 1;
  }
  odd[N - 1] = 2 * N - 2;
  int *out, *a, *b;
  cudaMalloc(&out, 2 * N * sizeof *out);
  cudaMalloc(&a, N * sizeof *a);
  cudaMalloc(&b, N * sizeof *b);
  cudaMemcpy(a, even.data(), N * sizeof *a, cudaMemcpyHostToDevice);
  cudaMemcpy(b, odd.data(), N * sizeof *b, cudaMemcpyHostToDevice);
  cudaStream_t s, r;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&r, cudaStreamNonBlocking);
  scatter<<<N / 256, 256, 0, s>>>(out, a); //~ CS-GPU-01 operation
  scatter<<<N / 256, 256, 0, r>>>(out, b); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  cudaFree(out);
}
