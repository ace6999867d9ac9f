// Reals are compared and swapped.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static double word[2], one = 1, none, old;
  MPI_Win win;
  MPI_Win_create(word, sizeof word, sizeof word[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, win);
  MPI_Compare_and_swap(&one, &none, &old, MPI_DOUBLE, 1 - rank, 0, win); //~ CS-ARG-01 operation ranks=0,1
  MPI_Win_unlock(1 - rank, win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
