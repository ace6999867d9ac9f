// PEs come to different calls: one to a barrier, the other one to a reduction.
//# gpu: 2
//# options: --stuck-after 1
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
  if (rank == 0) {
    nvshmem_barrier_all(); //~ CS-SHM-11 access
  } else {
    nvshmem_float_sum_reduce(NVSHMEM_TEAM_WORLD, sum, part, N); //~ CS-SHM-11 operation
    nvshmem_barrier_all();
  }
  nvshmem_free(sum);
  nvshmem_free(part);
  nvshmem_finalize();
  MPI_Finalize();
  return 0;
}
