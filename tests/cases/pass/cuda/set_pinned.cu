// cudaMemset of pinned memory is done when it returns.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  int *host;
  cudaMallocHost(&host, N * sizeof *host);
  host[7] = 1;
  cudaMemset(host, 0, N * sizeof *host);
  bad = host[7] != 0;

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
