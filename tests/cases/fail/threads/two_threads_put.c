// Two threads put to the same place at the target: each completes its own, and nothing orders them.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[8], out[8] = {7, 7, 7, 7, 8, 8, 8, 8};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
#pragma omp parallel num_threads(2)
  {
    if (rank == 0 && omp_get_thread_num() == 0) {
      MPI_Put(out, 4, MPI_INT, 1, 0, 4, MPI_INT, win); //~ CS-RMA-04 operation
      MPI_Win_flush(1, win);
    }
    if (omp_get_thread_num() == 1) usleep(200000);
    if (rank == 0 && omp_get_thread_num() == 1) {
      MPI_Put(out + 4, 4, MPI_INT, 1, 2, 4, MPI_INT, win); //~ CS-RMA-04 access
      MPI_Win_flush(1, win);
    }
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
