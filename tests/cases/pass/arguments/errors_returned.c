// The same calls to nowhere, which succeed.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int size, out[2] = {1}, in[2], failed = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  static int window[8];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  failed += MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win) != MPI_SUCCESS;
  failed += MPI_Put(out, 0, MPI_INT, 0, 0, 0, MPI_INT, win) != MPI_SUCCESS;
  failed += MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win) != MPI_SUCCESS;
  failed += MPI_Accumulate(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win) != MPI_SUCCESS;
  failed += MPI_Get(in, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win) != MPI_SUCCESS;
  in[0] = out[0] = 5;
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return failed == 0 && in[0] == 5 ? 0 : 1;
}
