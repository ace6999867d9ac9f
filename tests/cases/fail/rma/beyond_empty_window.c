// A put to a rank whose window is empty. MPICH 4.0 crashes over it, and Open MPI may try for ever.
//# mpi: openmpi
//# options: --halt-on-error
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int memory[4], out = 7;
  MPI_Aint bytes = rank == 0 ? sizeof memory : 0;
  MPI_Win win;
  MPI_Win_create(memory, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);

  int target = 1 - rank;
  MPI_Win_fence(0, win);
  MPI_Put(&out, 1, MPI_INT, target, 0, 1, MPI_INT, win); //~ CS-WIN-02 access ranks=0
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
