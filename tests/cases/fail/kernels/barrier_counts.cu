// Two warps disagree on how many threads use a barrier.
//# np: 1
//# mpi: none
//# options: --kernel-checks
__global__ void pass(const int *in, int *out) {
  int i = threadIdx.x;
  out[i] = in[i];
  if (i < 32) {
    asm volatile("bar.arrive 1, 64;" ::: "memory"); //~ CS-KRN-03 cause
  } else if (i < 64) {
    asm volatile("bar.arrive 1, 96;" ::: "memory"); //~ CS-KRN-03 cause
  }
}

int main() {
  int host[96], *in, *out;
  for (int i = 0; i < 96; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  pass<<<1, 96>>>(in, out); //~ CS-KRN-03 access
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
