// MPI_MODE_NOPUT is given for no epoch in which others put.
//# np: 2
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank, memory[8] = {0}, value = 10 + rank;
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  MPI_Put(&value, 1, MPI_INT, peer, 3, 1, MPI_INT, win);
  MPI_Win_fence(MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, win);
  printf("%d\n", memory[3]);

  MPI_Win_free(&win);
  MPI_Finalize();
  return memory[3] != 10 + peer;
}
