// A thread puts and completes that; another one, which nothing orders after it, calls the barrier
// after which the target loads.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

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
        MPI_Put(out, 4, MPI_INT, 1, 0, 4, MPI_INT, win); //~ CS-RMA-03 operation ranks=1
        MPI_Win_flush(1, win);
      }
      if (omp_get_thread_num() == 0) {
        usleep(200000);
        MPI_Barrier(MPI_COMM_WORLD);
      }
    }
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    sum = window[1]; //~ CS-RMA-03 access ranks=1
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return sum == 1;
}
