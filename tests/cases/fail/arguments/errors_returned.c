// Calls that fail, and return, as the window's error handler wants: nothing is under way then.
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
  failed += MPI_Put(out, 1, MPI_INT, size + 3, 0, 1, MPI_INT, win) != MPI_SUCCESS; //~ CS-ARG-01 operation ranks=0,1
  failed += MPI_Put(out, -1, MPI_INT, 0, 0, -1, MPI_INT, win) != MPI_SUCCESS; //~ CS-ARG-01 operation ranks=0,1
  failed += MPI_Put(out, 1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL, win) != MPI_SUCCESS; //~ CS-ARG-01 operation ranks=0,1
  failed += MPI_Accumulate(out, 1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL, MPI_SUM, win) != MPI_SUCCESS; //~ CS-ARG-01 operation ranks=0,1
  failed += MPI_Get(in, 1, MPI_INT, -7, 0, 1, MPI_INT, win) != MPI_SUCCESS; //~ CS-ARG-01 operation ranks=0,1
  in[0] = out[0] = 5;
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return failed == 5 && in[0] == 5 ? 0 : 1;
}
