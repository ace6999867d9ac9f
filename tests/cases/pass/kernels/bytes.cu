// Each thread writes one byte of a word, and of different words.
//# np: 1
//# mpi: none
//# options: --kernel-checks
constexpr int N = 256;

__global__ void mark(const unsigned char *in, unsigned char *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 1;
  if (i == 5) out[i] = in[i] + 1;
}

int main() {
  unsigned char host[N], *in, *out;
  for (int i = 0; i < N; ++i) host[i] = i;
  cudaMalloc(&in, N);
  cudaMalloc(&out, N);
  cudaMemcpy(in, host, N, cudaMemcpyHostToDevice);
  mark<<<2, N / 2>>>(in, out);
  cudaMemcpy(host, out, N, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  for (int i = 0; i < N; ++i)
    if (host[i] != (unsigned char)(i + 1)) return 1;
  return 0;
}
