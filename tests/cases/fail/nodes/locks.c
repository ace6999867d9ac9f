/* Ranks of two nodes count in a window: under locks that the standard orders only if they exclude
 * each other. */
//# np: 4
//# nodes: 2
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, *window, value, sum = 0;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  for (int i = 0; i < 16; i++) window[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < 5; round++) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Get(&value, 1, MPI_INT, 1, 5, 1, MPI_INT, win); //~ CS-RMA-04 access ranks=1
    MPI_Win_flush(1, win);
    value++;
    MPI_Put(&value, 1, MPI_INT, 1, 5, 1, MPI_INT, win); //~ CS-RMA-04 operation ranks=1
    MPI_Win_unlock(1, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    sum = window[5];
    MPI_Win_unlock(1, win);
  }
  MPI_Win_free(&win);
  MPI_Finalize();
  return sum > 20;
}
