// A put to memory that was never attached to the dynamic window.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank, out = 7;

  static int memory[8];
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Aint here, there;
  MPI_Get_address(memory, &here);
  MPI_Sendrecv(&here, 1, MPI_AINT, peer, 0, &there, 1, MPI_AINT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

  MPI_Win_fence(0, win);
  MPI_Put(&out, 1, MPI_INT, peer, there, 1, MPI_INT, win); //~ CS-WIN-02 access
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
