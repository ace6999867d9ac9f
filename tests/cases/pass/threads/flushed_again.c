// A thread puts; another one happens to complete that, and so does the first one, which then calls
// the barrier. Threads that pass messages on come after each other.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

enum { STEPS = 20, N = 4 };

int main(int argc, char **argv) {
  int provided, rank, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[2 * N], out[2][N];
  MPI_Comm comms[2];
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
#pragma omp parallel num_threads(2) reduction(+ : wrong)
  {
    const int me = omp_get_thread_num();
    for (int step = 1; step <= STEPS; step++) {
      if (rank == 0) {
        for (int i = 0; i < N; i++) out[me][i] = step;
        MPI_Put(out[me], N, MPI_INT, 1, me * N, N, MPI_INT, win);
        if (me == 0 && step % 4 == 0) usleep(3000);
        MPI_Win_flush(1, win);
        MPI_Barrier(comms[me]);
      } else {
        MPI_Barrier(comms[me]);
        MPI_Win_sync(win);
        for (int i = 0; i < N; i++) wrong += window[me * N + i] != step;
      }
      MPI_Barrier(comms[me]);
    }
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Comm_free(&comms[0]);
  MPI_Comm_free(&comms[1]);
  MPI_Finalize();
  return wrong;
}
