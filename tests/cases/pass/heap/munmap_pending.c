// A mapping is removed after the send from it completed.
#include <mpi.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[64];
  size_t size = 1 << 20;
  int *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) {
    abort();
  }
  map[1000] = 7;
  MPI_Request request;
  MPI_Isend(map + 1000, 64, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Recv(in, 64, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  munmap(map, size);

  MPI_Finalize();
  return in[0] == 7 ? 0 : 1;
}
