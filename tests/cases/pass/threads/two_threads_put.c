// Two threads put to the same place at the target, one after the other; both accumulate there, in
// any order, and put to places of their own.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[16], out[8] = {7, 7, 7, 7, 8, 8, 8, 8};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
    if (rank == 0 && me == 0) {
      MPI_Put(out, 4, MPI_INT, 1, 0, 4, MPI_INT, win);
      MPI_Win_flush(1, win);
    }
#pragma omp barrier
    if (rank == 0 && me == 1) {
      MPI_Put(out + 4, 4, MPI_INT, 1, 2, 4, MPI_INT, win);
      MPI_Win_flush(1, win);
    }
#pragma omp barrier
    if (rank == 0) {
      MPI_Accumulate(out, 2, MPI_INT, 1, 8, 2, MPI_INT, MPI_SUM, win);
      MPI_Put(out, 2, MPI_INT, 1, 12 + 2 * me, 2, MPI_INT, win);
      MPI_Win_flush(1, win);
    }
  }
  MPI_Win_unlock_all(win);

  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  int right = rank == 0 || window[0] == 7 && window[5] == 8 && window[8] == 14 && window[15] == 7;
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return right ? 0 : 1;
}
