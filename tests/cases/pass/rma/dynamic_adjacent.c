// One operation goes through two attached regions that adjoin.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank, out[4] = {1, 2, 3, 4};

  static int memory[8];
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, memory, 4 * sizeof *memory);
  MPI_Win_attach(win, memory + 4, 4 * sizeof *memory);
  MPI_Aint here, there;
  MPI_Get_address(memory + 2, &here);
  MPI_Sendrecv(&here, 1, MPI_AINT, peer, 0, &there, 1, MPI_AINT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

  MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
  MPI_Put(out, 4, MPI_INT, peer, there, 4, MPI_INT, win);
  MPI_Win_unlock(peer, win);
  MPI_Barrier(MPI_COMM_WORLD);
  int seen = memory[2] == 1 && memory[5] == 4;
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_detach(win, memory + 4);
  MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
  MPI_Finalize();
  return seen ? 0 : 1;
}
