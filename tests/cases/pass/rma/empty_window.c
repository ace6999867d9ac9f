// Ranks without window memory take part; nothing is put to them, in several ways.
//# np: 3
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out[2] = {7, 8};
  MPI_Aint bytes = rank == 1 ? sizeof window : 0;
  MPI_Win win;
  MPI_Win_create(rank == 1 ? window : NULL, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  MPI_Put(out, 0, MPI_INT, 2, 0, 0, MPI_INT, win);
  MPI_Put(out, 2, MPI_INT, MPI_PROC_NULL, 5, 2, MPI_INT, win);
  if (rank != 1) MPI_Put(&out[rank / 2], 1, MPI_INT, 1, rank, 1, MPI_INT, win);
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank != 1 || (window[0] == 7 && window[2] == 8) ? 0 : 1;
}
