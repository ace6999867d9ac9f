// Memory of a device is given back by a call for memory of the host, which fails, and then by the
// right one.
//# np: 1
//# mpi: none

int main() {
  int *p;
  cudaMalloc(&p, 64);
  if (cudaFreeHost(p) == cudaSuccess) return 1;
  cudaMemset(p, 0, 64);
  cudaFree(p); //~ CS-GPU-06 release
  cudaMemset(p, 0, 64); //~ CS-GPU-06 access
}
