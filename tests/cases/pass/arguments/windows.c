// One-sided operations whose arguments are allowed.
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  int rank, size, value = 0, got = 0, old = 0, memory[4] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  if (rank == 0) {
    MPI_Put(&value, 1, MPI_INT, size - 1, 0, 1, MPI_INT, win);
    MPI_Get(&got, 1, MPI_INT, 1, 3, 1, MPI_INT, win);
    MPI_Accumulate(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, MPI_SUM, win);
    MPI_Accumulate(&value, 1, MPI_INT, 1, 2, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Get_accumulate(NULL, 0, MPI_INT, &old, 1, MPI_INT, 1, 3, 1, MPI_INT, MPI_NO_OP, win);
    MPI_Put(0, 0, MPI_INT, MPI_PROC_NULL, -1, 0, MPI_INT, win);
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
