// A thread loads; at a barrier of the threads another one comes after that, and calls MPI_Barrier,
// after which the memory is written.
//# np: 2
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out = 7, seen[2];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(100000);
    MPI_Put(&out, 1, MPI_INT, 1, 2, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
  } else {
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 0) {
        seen[0] = window[2];
      }
#pragma omp barrier
      if (omp_get_thread_num() == 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        seen[1] = window[3];
      }
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return seen[0] || seen[1] || window[2] != 7 * rank;
}
