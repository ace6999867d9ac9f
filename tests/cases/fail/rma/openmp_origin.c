// A sibling thread writes to the local buffer of a put that is not complete.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out[4] = {7, 7, 7, 7};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
#pragma omp parallel num_threads(2)
  {
#pragma omp master
    {
      MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win); //~ CS-RMA-01 operation
    }
#pragma omp barrier
#pragma omp for schedule(static)
    for (int i = 0; i < 4; i++) {
      out[i] = i; //~ CS-RMA-01 access
    }
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
