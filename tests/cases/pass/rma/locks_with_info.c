// Locks, flushes and requests on a window whose info allows little: one operation, in any order.
//# np: 3
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, right = 1, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int next = (rank + 1) % size, out = rank + 1, *window;

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ordering", "none");
  MPI_Info_set(info, "accumulate_ops", "same_op");
  MPI_Info_set(info, "same_size", "true");
  MPI_Win win;
  MPI_Win_allocate(64, 4, info, MPI_COMM_WORLD, &window, &win);
  for (int i = 0; i < 16; i++) window[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  for (int i = 0; i < 4; i++) MPI_Accumulate(&out, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM, win);
  MPI_Fetch_and_op(&out, &sum, MPI_INT, 0, 4, MPI_SUM, win);
  MPI_Win_flush_local(0, win);
  out = 1;
  MPI_Fetch_and_op(&out, &sum, MPI_INT, 0, 4, MPI_SUM, win);
  MPI_Win_flush(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Fetch_and_op(NULL, &sum, MPI_INT, 0, 4, MPI_NO_OP, win);
  MPI_Win_flush(0, win);
  right &= sum == size * (size + 1) / 2 + size;

  for (int i = 0; i < 3; i++) {
    MPI_Request request;
    out = i;
    MPI_Rput(&out, 1, MPI_INT, next, 5 + i, 1, MPI_INT, win, &request);
    for (int done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  right &= window[6] == 1 && window[7] == 2;
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_set_info(win, info);
  MPI_Info_free(&info);
  for (int i = 0; i < 5; i++) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&sum, 1, MPI_INT, 0, 10, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    sum++;
    MPI_Put(&sum, 1, MPI_INT, 0, 10, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Get(&sum, 1, MPI_INT, 0, 10, 1, MPI_INT, win);
  MPI_Win_unlock(0, win);
  right &= sum == 5 * size;

  MPI_Win_free(&win);
  MPI_Finalize();
  return right ? 0 : 1;
}
