// One operation only, after MPI_Win_set_info has promised that.
//# np: 3
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ops", "same_op");
  int out = 7, seen = 0, *window;
  MPI_Win win;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  window[0] = 0;
  MPI_Barrier(MPI_COMM_WORLD);

  for (int round = 0; round < 2; round++) {
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
      MPI_Accumulate(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2) {
      MPI_Get_accumulate(&out, 1, MPI_INT, &seen, 1, MPI_INT, 1, 0, 1, MPI_INT, round == 0 ? MPI_NO_OP : MPI_SUM, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_set_info(win, info);
  }

  MPI_Info_free(&info);
  MPI_Win_free(&win);
  MPI_Finalize();
  return seen % 7;
}
