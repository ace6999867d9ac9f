// Operations on MPI_PROC_NULL and on no elements touch nothing; parts of windows may be empty.
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, out[2] = {1}, in[2], old;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[8];
  void *base = rank == 0 ? window : NULL;
  MPI_Win win;
  MPI_Win_create(base, rank == 0 ? sizeof window : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 100, 1, MPI_INT, win);
  MPI_Get(in, 1, MPI_INT, MPI_PROC_NULL, 100, 1, MPI_INT, win);
  MPI_Accumulate(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win);
  MPI_Fetch_and_op(out, &old, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, win);
  MPI_Compare_and_swap(out, out + 1, &old, MPI_INT, MPI_PROC_NULL, 0, win);
  MPI_Put(out, 0, MPI_INT, 1, 0, 0, MPI_INT, win);
  MPI_Put(NULL, 0, MPI_INT, 0, 8, 0, MPI_INT, win);
  in[0] = old = out[0] = 3;
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);

  MPI_Win_lock_all(0, win);
  MPI_Request requests[3];
  MPI_Rput(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[0]);
  MPI_Rget(in, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[1]);
  MPI_Raccumulate(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win, &requests[2]);
  in[0] += out[0];
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);

  MPI_Win_allocate(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_fence(0, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Win_free(&win);

  MPI_Finalize();
  return in[0] == 6 && old == 3 ? 0 : 1;
}
