// Accumulates with derived datatypes whose elements are of different predefined types.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[8];
  static union {
    int number;
    unsigned natural;
  } out[8];
  for (int i = 0; i < 8; i++) out[i].number = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Datatype element = rank == 0 ? MPI_INT : MPI_UNSIGNED, copy, pair, every_other;
  MPI_Type_dup(element, &copy);
  MPI_Type_contiguous(1, copy, &pair);
  MPI_Type_vector(4, 1, 2, pair, &every_other);
  MPI_Type_commit(&every_other);

  MPI_Win_fence(0, win);
  if (rank != 1) {
    MPI_Accumulate(out, 1, every_other, 1, 0, 1, every_other, MPI_SUM, win); //~ CS-RMA-04 access ranks=1 //~ CS-RMA-04 operation ranks=1
  }
  MPI_Win_fence(0, win);

  MPI_Type_free(&every_other);
  MPI_Type_free(&pair);
  MPI_Type_free(&copy);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
