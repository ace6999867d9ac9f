// Each thread writes one byte of a word, but some write their neighbour's, too.
//# np: 1
//# mpi: none
//# options: --kernel-checks
constexpr int N = 256;

__global__ void mark(const unsigned char *in, unsigned char *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 1; //~ CS-KRN-01 cause
  if (i == 5) out[i + 1] = 0; //~ CS-KRN-01 cause
}

int main() {
  unsigned char host[N], *in, *out;
  for (int i = 0; i < N; ++i) host[i] = i;
  cudaMalloc(&in, N);
  cudaMalloc(&out, N); //~ CS-KRN-01 operation
  cudaMemcpy(in, host, N, cudaMemcpyHostToDevice);
  mark<<<2, N / 2>>>(in, out); //~ CS-KRN-01 access
  cudaMemcpy(host, out, N, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
