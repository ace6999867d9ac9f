// MPI_Test completes a get, too, and MPI_Testall and MPI_Waitany complete several.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4] = {1, 2, 3, 4}, in[4];
  MPI_Request requests[4];
  int done = 0, sum = 0;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
  for (int i = 0; i < 4; i++) MPI_Rget(&in[i], 1, MPI_INT, peer, i, 1, MPI_INT, win, &requests[i]);
  while (!done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
  sum += in[0];
  for (int i = 1; i < 3; i++) {
    int which;
    MPI_Waitany(4, requests, &which, MPI_STATUS_IGNORE);
    sum += in[which];
  }
  for (done = 0; !done;) MPI_Testall(4, requests, &done, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 4; i++) sum += in[i];
  MPI_Win_unlock(peer, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return sum > 10 && sum < 20 ? 0 : 1;
}
