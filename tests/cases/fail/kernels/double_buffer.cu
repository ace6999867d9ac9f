// Steps of a stencil between two buffers in shared memory: without a barrier in each step, a thread
// may be a step ahead.
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
    now[i] = (old[(i + N - 1) % N] + old[(i + 1) % N]) / 2; //~ CS-KRN-01 cause
  }
  data[i] = from[STEPS % 2][i];
}

int main() {
  float host[N], *data;
  for (int i = 0; i < N; ++i) host[i] = i % 2;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  smooth<<<1, N>>>(data); //~ CS-KRN-01 access
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  return 0;
}
