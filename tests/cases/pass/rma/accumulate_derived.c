// Accumulates of derived datatypes meet: their elements are of the same predefined type.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[8], out[4] = {1, 1, 1, 1};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Datatype every_other;
  MPI_Type_vector(4, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  MPI_Win_fence(0, win);
  if (rank == 0) MPI_Accumulate(out, 4, MPI_INT, 1, 0, 1, every_other, MPI_SUM, win);
  if (rank == 2) MPI_Accumulate(out, 4, MPI_INT, 1, 0, 4, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);

  MPI_Type_free(&every_other);
  MPI_Win_free(&win);
  MPI_Finalize();
  return rank != 1 || (window[0] == 2 && window[1] == 1 && window[2] == 2 &&
         window[6] == 1) ? 0 : 1;
}
