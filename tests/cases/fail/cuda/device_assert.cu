// An assertion of a kernel fails; the host has waited, and then reads managed memory to see how far
// it got.
//# np: 1
//# mpi: none
#include <cassert>
#include <cstdio>

__global__ void some(int *p, int n) {
  p[threadIdx.x] = 1;
  assert(threadIdx.x < n);
}

int main() {
  int *p;
  cudaMallocManaged(&p, 256);
  some<<<1, 64>>>(p, 10); //~ CS-GPU-09 access
  cudaError_t error = cudaDeviceSynchronize();
  printf("%s, p[0] = %d\n", cudaGetErrorString(error), p[0]);
  return error == cudaErrorAssert ? 0 : 1;
}
