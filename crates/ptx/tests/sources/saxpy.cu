// The smallest program: one kernel, and a host that launches it.
__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main() { saxpy<<<1, 32>>>(0, 2.0f, nullptr, nullptr); }
