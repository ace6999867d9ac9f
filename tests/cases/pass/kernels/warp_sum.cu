// The last steps of a sum by one warp, which synchronises between reading and writing.
//# np: 1
//# mpi: none
//# options: --kernel-checks
constexpr int N = 64;

__global__ void sum(const int *in, int *out) {
  __shared__ int part[N];
  int i = threadIdx.x;
  part[i] = in[i];
  part[i + 32] = in[i + 32];
  __syncwarp();
  for (int half = 32; half > 0; half /= 2) {
    int other = part[(i + half) % N];
    __syncwarp();
    part[i] += other;
    __syncwarp();
  }
  if (i == 0) *out = part[0];
}

int main() {
  int host[N], *in, *out, result;
  for (int i = 0; i < N; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof *out);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<1, 32>>>(in, out);
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return result != N * (N - 1) / 2;
}
