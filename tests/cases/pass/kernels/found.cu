// All threads that find a value set the same flag, by an atomic.
//# np: 1
//# mpi: none
//# options: --kernel-checks
constexpr int N = 128;

__global__ void find(const int *in, int wanted, int *out) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (in[threadIdx.x] == wanted) atomicExch(&found, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = found;
}

int main() {
  int host[N], *in, *out, result;
  for (int i = 0; i < N; ++i) host[i] = i % 10;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof *out);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  find<<<1, N>>>(in, 7, out);
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return result != 1;
}
