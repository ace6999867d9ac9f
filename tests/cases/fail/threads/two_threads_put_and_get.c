// A thread gets into a buffer that another one has put from: nothing orders them.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[8], both[4] = {7, 7, 7, 7};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      MPI_Put(both, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win); //~ CS-BUF-04 operation
      MPI_Win_flush(1 - rank, win);
    }
    if (omp_get_thread_num() == 1) usleep(200000);
    if (omp_get_thread_num() == 1) {
      MPI_Get(both, 4, MPI_INT, 1 - rank, 4, 4, MPI_INT, win); //~ CS-BUF-04 access
      MPI_Win_flush(1 - rank, win);
    }
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
