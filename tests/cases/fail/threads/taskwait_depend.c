// A thread goes on when tasks have put, but waits for none.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>

static int window[4], out[4] = {7, 7, 7, 7};

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : out)
    {
      MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win); //~ CS-RMA-01 operation
      MPI_Win_flush(1 - rank, win);
    }
    out[1] = 8; //~ CS-RMA-01 access
#pragma omp taskwait depend(in : out)
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
