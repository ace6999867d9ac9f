// Threads of a rank put to the same element at once.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
#pragma omp parallel num_threads(2)
  {
    int place = omp_get_num_threads();
#pragma omp critical
    MPI_Put(&out, 1, MPI_INT, 1 - rank, place, 1, MPI_INT, win); //~ CS-RMA-04 access //~ CS-RMA-04 operation
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
