// The order goes from rank to rank: flush, wildcard receives, a nonblocking barrier, an allreduce.
//# np: 4
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out = 7, one = 1, sum, in;
  MPI_Request request;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Put(&out, 1, MPI_INT, 3, 0, 1, MPI_INT, win);
    MPI_Win_flush_all(win);
    MPI_Isend(NULL, 0, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Get(&in, 1, MPI_INT, 3, 0, 1, MPI_INT, win);
    MPI_Win_flush(3, win);
    out = in + 1;
    MPI_Put(&out, 1, MPI_INT, 3, 0, 1, MPI_INT, win);
    MPI_Win_flush(3, win);
  }
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 2) {
    MPI_Get(&in, 1, MPI_INT, 3, 0, 1, MPI_INT, win);
    MPI_Win_flush_local(3, win);
    out = in + 1;
    MPI_Put(&out, 1, MPI_INT, 3, 1, 1, MPI_INT, win);
    MPI_Win_flush(3, win);
  }
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Win_sync(win);
  int seen = window[0] + window[1];
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == (rank == 3 ? 17 : 0) ? 0 : 1;
}
