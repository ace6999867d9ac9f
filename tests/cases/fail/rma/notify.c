// A rank reads what another one puts into its window before the counter says that it is there,
// stores to what is being got, and a rank changes what it puts before that is complete.
//# library: mpix_notify
//# mpi: openmpi
#include "mpix_notify.h"
#include <stdio.h>

static void wait_for(MPI_Win win, int counter, MPI_Count expected) {
  MPI_Count value = 0;
  while (value < expected) MPIX_Win_get_notify(win, counter, &value);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, *part, wrong = 0, out[4] = {1, 2, 3, 4}, in = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win win;
  MPI_Win_allocate(16 * sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win);
  for (int i = 0; i < 16; i++) part[i] = -1;
  MPIX_Win_create_notify(win, 3);
  for (int i = 0; i < 3; i++) MPIX_Win_set_notify(win, i, 0);
  MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);

  if (rank == 0) {
    MPIX_Put_notify(out, 4, MPI_INT, 1, 0, 4, MPI_INT, 0, win); //~ CS-RMA-01 operation //~ CS-RMA-03 operation
    out[0] = 7; //~ CS-RMA-01 access
    MPI_Win_flush(1, win);
    MPIX_Get_notify(&in, 1, MPI_INT, 1, 8, 1, MPI_INT, 1, win); //~ CS-RMA-03 operation
    MPI_Win_flush(1, win);
    wrong |= in != 5 && in != -1;
  } else {
    if (part[3] == 5) puts("5"); //~ CS-RMA-03 access
    wait_for(win, 0, 1);
    wrong |= part[3] != 4;
    part[3] = 6;
    // The get has read, which commsan does not see, and the first counter does not tell.
    MPI_Count read = 0;
    while (read < 1) PMPIX_Win_get_notify(win, 1, &read);
    part[8] = 5; //~ CS-RMA-03 access
    wait_for(win, 1, 1);
    part[8] = 5;
  }

  // By a request, and back.
  if (rank == 0) {
    MPIX_Put_notify(&rank, 1, MPI_INT, 1, 4, 1, MPI_INT, 2, win);
    wait_for(win, 2, 1);
    wrong |= part[4] != 1;
  } else {
    MPI_Request request;
    MPIX_Win_get_notify_request(win, 2, 1, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong |= part[4] != 0;
    MPIX_Put_notify(&rank, 1, MPI_INT, 0, 4, 1, MPI_INT, 2, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPIX_Win_free_notify(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong;
}
