// Sums start from zero; of what nobody needs nothing is written, nor read.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void accumulate(double *sum, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] += in[i];
}

int main() {
  constexpr int n = 1000;
  static float host[n];
  double *sum;
  float *in;
  cudaMalloc(&sum, 2 * n * sizeof *sum);
  cudaMallocManaged(&in, n * sizeof *in);
  cudaMemset(sum, 0, n * sizeof *sum);
  for (int i = 0; i < n; ++i) in[i] = host[i];
  accumulate<<<(n + 127) / 128, 128>>>(sum, in, n);
  cudaDeviceSynchronize();
  cudaFree(sum);
  cudaFree(in);
  return 0;
}
