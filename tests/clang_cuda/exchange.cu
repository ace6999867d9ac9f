// Rank 0 fills an array by a kernel and sends it, with -DWAIT after it has waited.
#include "cuda.h"
// Its C++ binding needs operators that only the real headers make fit for devices.
#define OMPI_SKIP_MPICXX
#include <mpi.h>

constexpr int N = 1024;

__global__ void fill(int *a, int n) {
  int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
  if (i < n)
    a[i] = i + 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, *a, last = N;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaMallocManaged(reinterpret_cast<void **>(&a), N * sizeof *a, 1);
  if (rank == 0) {
    fill<<<N / 128, 128>>>(a, N);
#ifdef WAIT
    cudaDeviceSynchronize();
    last = a[N - 1];
#else
    a[0] = 0;
#endif
    MPI_Send(a, N, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(a, N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#ifdef WAIT
    last = a[N - 1];
#endif
  }
  cudaFree(a);
  MPI_Finalize();
  return last != N;
}
