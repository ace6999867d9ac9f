// Memory that is attached twice, or to a window that takes none, and detached where none is
// attached.
#include <mpi.h>

static int memory[32], other[8];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Win win, fixed;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_create(other, sizeof other, sizeof other[0], MPI_INFO_NULL, MPI_COMM_WORLD, &fixed);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_set_errhandler(fixed, MPI_ERRORS_RETURN);

  MPI_Win_attach(win, memory, 16 * sizeof(int));
  MPI_Win_attach(fixed, other, sizeof other); //~ CS-ARG-01 operation
  MPI_Win_detach(win, memory + 4); //~ CS-ARG-01 operation
  MPI_Win_detach(win, other); //~ CS-ARG-01 operation
  MPI_Win_detach(win, memory);
  MPI_Win_detach(win, memory); //~ CS-ARG-01 operation

  MPI_Win_free(&fixed);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
