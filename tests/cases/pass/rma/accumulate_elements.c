// Accumulates with derived datatypes and a predefined one, all of the same elements.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[8], out[8] = {7, 7, 7, 7, 7, 7, 7, 7};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Datatype element = MPI_INT, copy, pair, every_other;
  MPI_Type_dup(element, &copy);
  MPI_Type_contiguous(1, copy, &pair);
  MPI_Type_vector(4, 1, 2, pair, &every_other);
  MPI_Type_commit(&every_other);

  MPI_Win_fence(0, win);
  if (rank == 0) {
    MPI_Accumulate(out, 1, every_other, 1, 0, 1, every_other, MPI_SUM, win);
  } else if (rank == 2) {
    MPI_Accumulate(out, 8, MPI_INT, 1, 0, 8, MPI_INT, MPI_SUM, win);
  }
  MPI_Win_fence(0, win);

  int right = rank != 1 || (window[0] == 14 && window[1] == 7);
  MPI_Type_free(&every_other);
  MPI_Type_free(&pair);
  MPI_Type_free(&copy);
  MPI_Win_free(&win);
  MPI_Finalize();
  return right ? 0 : 1;
}
