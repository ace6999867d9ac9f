// Was linked with hooks of another version of commsan, which map the shared header before anyone.
#include "../../instrument/hooks/commsan_abi.h"

#include <mpi.h>
#include <stdio.h>
#include <sys/mman.h>

static void map(void) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  mmap(COMMSAN_ABI, 4096 + (1ull << COMMSAN_SLOT_BITS), PROT_READ | PROT_WRITE, flags, -1, 0);
  COMMSAN_ABI->version = COMMSAN_ABI_VERSION + 1;
  COMMSAN_ABI->magic = COMMSAN_ABI_MAGIC;
}

__attribute__((section(".preinit_array"), used)) static void (*const before_all)(void) = map;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d is fine\n", rank);
  MPI_Finalize();
  return 0;
}
