// Regions of a dynamic window must not overlap.
//# mpi: mpich
#include <mpi.h>

static int memory[32];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);

  MPI_Win_attach(win, memory + 8, 8 * sizeof(int));
  MPI_Win_attach(win, memory + 12, 8 * sizeof(int)); //~ CS-ARG-01 operation
  MPI_Win_attach(win, memory, 9 * sizeof(int)); //~ CS-ARG-01 operation

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
