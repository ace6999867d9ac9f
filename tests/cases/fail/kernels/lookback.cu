// A scan in which each block waits for the one before: its flag may be there before its sum.
//# np: 1
//# mpi: none
//# options: --kernel-checks
constexpr int BLOCKS = 40, THREADS = 32;

__device__ int ready[BLOCKS], sums[BLOCKS];

__global__ void scan(int *data) {
  __shared__ int before;
  int *own = data + blockIdx.x * THREADS;
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < THREADS; ++i) own[i] = sum += own[i];
    before = 0;
    if (blockIdx.x > 0) {
      while (*(volatile int *)&ready[blockIdx.x - 1] == 0) {
      }
      before = sums[blockIdx.x - 1]; //~ CS-KRN-01 cause
    }
    sums[blockIdx.x] = before + sum; //~ CS-KRN-01 cause
    *(volatile int *)&ready[blockIdx.x] = 1;
  }
  __syncthreads();
  own[threadIdx.x] += before;
}

int main() {
  static int host[BLOCKS * THREADS];
  int *data;
  for (int &value : host) value = 1;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  scan<<<BLOCKS, THREADS>>>(data); //~ CS-KRN-01 access
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  for (int i = 0; i < BLOCKS * THREADS; ++i)
    if (host[i] != i + 1) return 1;
  return 0;
}
