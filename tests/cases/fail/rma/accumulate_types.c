// Two ranks accumulate with different types at once: atomic only with the same one.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4] = {7};
  union {
    int number;
    unsigned natural;
  } out = {7};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  MPI_Datatype type = rank == 0 ? MPI_INT : MPI_UNSIGNED;
  if (rank != 1) {
    MPI_Accumulate(&out, 1, type, 1, 0, 1, type, MPI_SUM, win); //~ CS-RMA-04 access ranks=1 //~ CS-RMA-04 operation ranks=1
  }
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
