// MPI says that it takes device memory.
#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif
#include <cstdio>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int aware = MPIX_Query_cuda_support();
#if defined(MPICH)
  int supported = 0;
  MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported);
  aware &= supported;
#endif
  int *p;
  cudaMalloc(&p, sizeof *p);
  cudaMemset(p, 0, sizeof *p);
  cudaDeviceSynchronize();
  MPI_Bcast(p, 1, MPI_INT, 0, MPI_COMM_WORLD);

  if (!aware) printf("not aware of CUDA\n");
  MPI_Finalize();
  return !aware;
}
