// Memory of a device is given back by a call for memory of the host, which fails: it is there as
// before.
//# np: 1
//# mpi: none

int main() {
  int *p;
  cudaMalloc(&p, 64);
  if (cudaFreeHost(p) == cudaSuccess) return 1;
  cudaMemset(p, 0, 64);
  cudaMemset(p, 0, 64);
  return cudaFree(p) == cudaSuccess ? 0 : 2;
}
