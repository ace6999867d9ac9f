// A ring of local buffers is reused before MPI_Waitall.
#include <mpi.h>

enum { BUFFERS = 4, ROUNDS = 5 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[BUFFERS * ROUNDS], out[BUFFERS];
  MPI_Request requests[BUFFERS];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < BUFFERS; i++) {
      out[i] = round; //~ CS-RMA-01 access
      if (round > 0 && i == 0) MPI_Waitall(BUFFERS, requests, MPI_STATUSES_IGNORE);
      MPI_Rput(&out[i], 1, MPI_INT, 1 - rank, BUFFERS * round + i, 1, MPI_INT, win, &requests[i]); //~ CS-RMA-01 operation
    }
  }
  MPI_Waitall(BUFFERS, requests, MPI_STATUSES_IGNORE);
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
