// A thread reads a result before it has flushed its operation, after another one has flushed that
// target, too.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static int step;
static long window[2], one[2] = {1, 1}, got[2];

static void reach(int next) { __atomic_store_n(&step, next, __ATOMIC_RELAXED); }

static void await(int next) {
  while (__atomic_load_n(&step, __ATOMIC_RELAXED) != next) usleep(10);
}

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      MPI_Get_accumulate(one, 2, MPI_LONG, got, 2, MPI_LONG, 0, 0, 2, MPI_LONG, MPI_SUM, win); //~ CS-RMA-02 operation
      reach(1);
      await(2);
      printf("%d\n", got[0] >= 0); //~ CS-RMA-02 access
      MPI_Win_flush(0, win);
    } else {
      await(1);
      MPI_Win_flush(0, win);
      reach(2);
    }
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
