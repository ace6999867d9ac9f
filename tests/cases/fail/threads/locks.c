// A thread completes the put after it has given up the lock under which another one writes.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out[4] = {7, 7, 7, 7};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      omp_set_lock(&lock);
      MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win); //~ CS-RMA-01 operation
      omp_unset_lock(&lock);
      MPI_Win_flush(1 - rank, win);
    } else {
      usleep(100000);
      omp_set_lock(&lock);
      out[1] = 8; //~ CS-RMA-01 access
      omp_unset_lock(&lock);
    }
  }
  omp_destroy_lock(&lock);
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
