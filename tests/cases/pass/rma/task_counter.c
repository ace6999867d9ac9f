// Ranks draw tasks from a counter and put each result into a place of its own.
//# np: 3
#include <mpi.h>

enum { TASKS = 30, COUNTER = TASKS };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[TASKS + 1], one = 1;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  for (;;) {
    int task, result;
    MPI_Fetch_and_op(&one, &task, MPI_INT, 0, COUNTER, MPI_SUM, win);
    MPI_Win_flush(0, win);
    if (task >= TASKS) break;
    result = task * task;
    MPI_Put(&result, 1, MPI_INT, 0, task, 1, MPI_INT, win);
    MPI_Win_flush_local(0, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);

  int sum = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  for (int i = 0; i < TASKS; i++) sum += window[i];
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return sum == (rank ? 0 : TASKS * (TASKS - 1) * (2 * TASKS - 1) / 6) ? 0 : 1;
}
