// A message orders what its sender did before from the moment it is seen, received or not: by
// MPI_Probe, MPI_Iprobe, or as a matched one.
#include <mpi.h>

enum { WAYS = 4 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4 * WAYS], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  for (int way = 0; way < WAYS; way++) {
    if (rank == 0) {
      MPI_Put(&out, 1, MPI_INT, 1, 4 * way, 1, MPI_INT, win);
      MPI_Win_flush(1, win);
      MPI_Send(&out, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
      continue;
    }
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag = 0;
    if (way == 0) MPI_Probe(0, 0, MPI_COMM_WORLD, &status);
    while (way == 1 && !flag) MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (way == 2) MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    while (way == 3 && !flag) MPI_Improbe(0, 0, MPI_COMM_WORLD, &flag, &message, &status);
    sum += window[4 * way];
    if (way < 2) MPI_Recv(&out, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else MPI_Mrecv(&out, 0, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank == 0 || sum == 7 * WAYS ? 0 : 1;
}
