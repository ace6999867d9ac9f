// Two ranks put to one place, with a barrier between: in the second, one thread is in it, and
// another one puts after a barrier of the threads.
//# np: 3
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>

static int window[4], out = 7;
static MPI_Win win;

static void put(void) {
  MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
  MPI_Win_flush(1, win);
}

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);

  if (rank == 2) {
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 0) MPI_Barrier(MPI_COMM_WORLD);
#pragma omp barrier
      if (omp_get_thread_num() == 1) put();
    }
  } else {
    if (rank == 0) put();
    MPI_Barrier(MPI_COMM_WORLD);
  }

  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return rank == 1 && window[0] != 7;
}
