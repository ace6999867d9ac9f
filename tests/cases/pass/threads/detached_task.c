// A detached task is complete when its event is fulfilled: who depends on it comes after who
// fulfils.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

static int window[4], out[4] = {7, 7, 7, 7};

int main(int argc, char **argv) {
  int provided, rank, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_event_handle_t event;
    int given = 5;
#pragma omp task detach(event) depend(out : out) firstprivate(given)
    wrong += given != 5;
#pragma omp task depend(in : out)
    out[1] = 8;
    MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
    MPI_Win_flush(1 - rank, win);
    omp_fulfill_event(event);
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong;
}
