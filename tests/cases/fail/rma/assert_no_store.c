// MPI_MODE_NOSTORE is given for a window that was stored to.
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

  MPI_Win_fence(0, win);
  memory[1] = value; //~ CS-WIN-07 access
  MPI_Win_fence(MPI_MODE_NOSTORE, win); //~ CS-WIN-07 operation
  MPI_Get(&value, 1, MPI_INT, peer, 1, 1, MPI_INT, win);
  MPI_Win_fence(MPI_MODE_NOSTORE, win);
  printf("%d\n", value);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
