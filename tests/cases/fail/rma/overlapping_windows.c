// Two windows on the same memory: rank 0 puts through one, rank 2 through the other.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[8], out = 7;
  MPI_Win whole, half;
  MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &whole);
  MPI_Win_create(window + 4, sizeof window / 2, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &half);

  MPI_Win_lock_all(0, whole);
  MPI_Win_lock_all(0, half);
  if (rank == 0) {
    MPI_Put(&out, 1, MPI_INT, 1, 4, 1, MPI_INT, whole); //~ CS-RMA-04 operation ranks=1
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) {
    MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, half); //~ CS-RMA-04 access ranks=1
  }
  MPI_Win_unlock_all(half);
  MPI_Win_unlock_all(whole);

  MPI_Win_free(&half);
  MPI_Win_free(&whole);
  MPI_Finalize();
  return 0;
}
