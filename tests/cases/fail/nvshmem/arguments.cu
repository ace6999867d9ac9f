// PEs pass different roots, counts, types and reductions to collectives of their streams.
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
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvshmem_init();
  float *part = (float *)nvshmem_calloc(N, sizeof(float));
  float *sum = (float *)nvshmem_calloc(N, sizeof(float));
  nvshmemx_float_broadcast_on_stream(NVSHMEM_TEAM_WORLD, sum, part, N, rank, stream); //~ CS-SHM-11 access //~ CS-SHM-11 operation
  nvshmemx_float_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, sum, part, N - rank, stream); //~ CS-SHM-11 access //~ CS-SHM-11 operation
  if (rank == 0)
    nvshmemx_float_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, sum, part, N, stream); //~ CS-SHM-11 access
  else
    nvshmemx_float_max_reduce_on_stream(NVSHMEM_TEAM_WORLD, sum, part, N, stream); //~ CS-SHM-11 operation
  if (rank == 0)
    nvshmemx_float_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, sum, part, N, stream); //~ CS-SHM-11 access
  else
    nvshmemx_int_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, (int *)sum, (int *)part, N, stream); //~ CS-SHM-11 operation
  cudaStreamSynchronize(stream);
  nvshmem_free(sum);
  nvshmem_free(part);
  nvshmem_finalize();
  MPI_Finalize();
  return 0;
}
