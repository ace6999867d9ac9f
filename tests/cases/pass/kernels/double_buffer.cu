// Steps of a stencil between two buffers in shared memory: one barrier in each step is enough.
//# np: 1
//# mpi: none
//# options: --kernel-checks
constexpr int N = 128, STEPS = 6;

__global__ void smooth(float *data) {
  __shared__ float from[2][N];
  int i = threadIdx.x;
  from[0][i] = data[i];
  __syncthreads();
  for (int step = 0; step < STEPS; ++step) {
    float *old = from[step % 2], *now = from[1 - step % 2];
    now[i] = (old[(i + N - 1) % N] + old[(i + 1) % N]) / 2;
    __syncthreads();
  }
  data[i] = from[STEPS % 2][i];
}

int main() {
  float host[N], *data;
  for (int i = 0; i < N; ++i) host[i] = i % 2;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  smooth<<<1, N>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  for (int i = 0; i < N; ++i)
    if (host[i] != i % 2) return 1;
  return 0;
}
