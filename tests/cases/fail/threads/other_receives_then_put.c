// A thread of the origin learns by a message that the target has loaded; another one, which nothing
// orders after that, puts.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int provided, rank, token = 0, sum = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out[4] = {7, 7, 7, 7};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 0) {
        MPI_Recv(&token, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      if (omp_get_thread_num() == 1) {
        usleep(200000);
        MPI_Put(out, 4, MPI_INT, 1, 0, 4, MPI_INT, win); //~ CS-RMA-03 operation ranks=1
        MPI_Win_flush(1, win);
      }
    }
  } else {
    sum = window[1]; //~ CS-RMA-03 access ranks=1
    MPI_Send(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return sum == 1;
}
