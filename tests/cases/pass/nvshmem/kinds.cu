// All PEs come to a barrier, and then to a reduction.
//# gpu: 2
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

constexpr int N = 64;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  nvshmem_init();
  float *part = (float *)nvshmem_calloc(N, sizeof(float));
  float *sum = (float *)nvshmem_calloc(N, sizeof(float));
  nvshmem_barrier_all();
  nvshmem_float_sum_reduce(NVSHMEM_TEAM_WORLD, sum, part, N);
  nvshmem_free(sum);
  nvshmem_free(part);
  nvshmem_finalize();
  MPI_Finalize();
  return 0;
}
