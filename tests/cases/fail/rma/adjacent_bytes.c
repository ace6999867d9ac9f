// Rank 0 puts three bytes, rank 2 puts from the third of them on.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static char window[16], out[3] = "abc";
  MPI_Win win;
  MPI_Win_create(window, sizeof window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  int begin = rank == 0 ? 0 : 2;
  if (rank != 1) {
    MPI_Put(out, 3, MPI_CHAR, 1, begin, 3, MPI_CHAR, win); //~ CS-RMA-04 access ranks=1 //~ CS-RMA-04 operation ranks=1
  }
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
