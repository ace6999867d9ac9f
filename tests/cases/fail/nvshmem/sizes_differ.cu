// Each PE allocates as much as it needs itself.
//# gpu: 2
//# options: --stuck-after 1
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  nvshmem_init();
  float *field = (float *)nvshmem_malloc((rank + 1) * 64 * sizeof(float)); //~ CS-SHM-04 access //~ CS-SHM-04 operation
  nvshmem_free(field);
  nvshmem_finalize();
  MPI_Finalize();
  return 0;
}
