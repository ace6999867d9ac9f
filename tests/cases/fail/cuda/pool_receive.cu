// MPI is given memory of cudaMallocAsync that may not be there yet.
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  if (rank == 0) {
    cudaMalloc(&p, N * sizeof *p);
    cudaMemset(p, 0, N * sizeof *p);
    cudaDeviceSynchronize();
    MPI_Send(p, N, MPI_INT, 1, 0, MPI_COMM_WORLD);
    cudaFree(p);
  } else {
    cudaMallocAsync(&p, N * sizeof *p, stream); //~ CS-GPU-06 operation
    MPI_Recv(p, N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-GPU-06 access
    cudaStreamSynchronize(stream);
    bad = wrong(p, 0);
    cudaFreeAsync(p, stream);
  }

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
