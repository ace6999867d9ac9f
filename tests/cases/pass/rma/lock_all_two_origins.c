// Ranks 0 and 2 use the same memory of rank 1 one after the other (lock_all and flush).
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], in, same, out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  for (int origin = 0; origin <= 2; origin += 2) {
    if (rank == origin) {
      MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
      rank == 0 ? MPI_Put(&out, 1, MPI_INT, 1, 1, 1, MPI_INT, win) : MPI_Get(&in, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
      MPI_Get(&same, 1, MPI_INT, 1, 2, 1, MPI_INT, win);
      MPI_Win_flush(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank != 1 || (window[0] == 7 && window[1] == 7 && window[2] == 0) ? 0 : 1;
}
