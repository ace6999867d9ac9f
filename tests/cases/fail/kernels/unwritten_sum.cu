// Sums start from what the allocated memory happens to hold.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void accumulate(double *sum, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] += in[i]; //~ CS-KRN-04 cause
}

int main() {
  constexpr int n = 1000;
  static float host[n];
  double *sum;
  float *in;
  cudaMalloc(&sum, n * sizeof *sum); //~ CS-KRN-04 operation
  cudaMallocManaged(&in, n * sizeof *in);
  for (int i = 0; i < n; ++i) in[i] = host[i];
  accumulate<<<(n + 127) / 128, 128>>>(sum, in, n); //~ CS-KRN-04 access
  cudaDeviceSynchronize();
  cudaFree(sum);
  cudaFree(in);
  return 0;
}
