/* A put that is complete when a message says so, from one node to another. */
//# np: 4
//# nodes: 2
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, *window, value = 7, got = 7;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  for (int i = 0; i < 16; i++) window[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    for (int i = 0; i < 20; i++) MPI_Send(&i, 1, MPI_INT, 3, 1, MPI_COMM_WORLD);
    MPI_Put(&value, 1, MPI_INT, 2, 4, 1, MPI_INT, win);
    MPI_Win_flush(2, win);
    MPI_Send(&value, 0, MPI_INT, 3, 2, MPI_COMM_WORLD);
  }
  if (rank == 3) {
    for (int i = 0, n; i < 20; i++)
      MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Get(&got, 1, MPI_INT, 2, 4, 1, MPI_INT, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return got != 7;
}
