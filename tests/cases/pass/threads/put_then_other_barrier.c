// A thread puts and completes that; another one comes after it at a barrier of the threads, and
// calls MPI_Barrier.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
  int provided, rank, sum = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out[4] = {7, 7, 7, 7};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 1) {
        MPI_Put(out, 4, MPI_INT, 1, 0, 4, MPI_INT, win);
        MPI_Win_flush(1, win);
      }
#pragma omp barrier
      if (omp_get_thread_num() == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
      }
    }
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    sum = window[1];
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank == 1 && sum != 7;
}
