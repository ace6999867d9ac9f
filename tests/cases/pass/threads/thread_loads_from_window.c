// A thread reads the window after another one has heard, before a barrier, that the put is
// complete.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out[4] = {7, 7, 7, 7};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Put(out, 4, MPI_INT, 1, 0, 4, MPI_INT, win);
    MPI_Win_flush(1, win);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 0) MPI_Barrier(MPI_COMM_WORLD);
#pragma omp barrier
      if (omp_get_thread_num() == 1) printf("%d\n", window[1]);
    }
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
