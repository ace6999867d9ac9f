// Between each put and the next write, threads synchronise in another way.
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
  omp_nest_lock_t nested;
  omp_init_nest_lock(&nested);
#pragma omp parallel num_threads(3)
  {
    int mine = 0;
    const int me = omp_get_thread_num();
#pragma omp master
    {
      MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
      MPI_Win_flush(1 - rank, win);
    }
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < 4; i++) out[i] = i;
#pragma omp single
    {
      MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
      MPI_Win_flush(1 - rank, win);
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 4; i++) out[i] = i;
#pragma omp single copyprivate(mine)
    {
      MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
      MPI_Win_flush(1 - rank, win);
    }
#pragma omp for schedule(guided) reduction(+ : sum)
    for (int i = 0; i < 4; i++) sum += out[i] = i + mine;
#pragma omp for ordered
    for (int i = 0; i < 8; i++) {
#pragma omp ordered
      {
        out[i % 4] = i;
        MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
        MPI_Win_flush(1 - rank, win);
      }
    }
#pragma omp for ordered(1)
    for (int i = 1; i < 9; i++) {
#pragma omp ordered depend(sink : i - 1)
      out[i % 4] = i;
      MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
      MPI_Win_flush(1 - rank, win);
#pragma omp ordered depend(source)
    }
    for (int i = 0; i < 3; i++) {
      omp_set_nest_lock(&nested);
      omp_set_nest_lock(&nested);
      out[me] = i;
      MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
      MPI_Win_flush(1 - rank, win);
      omp_unset_nest_lock(&nested);
      omp_unset_nest_lock(&nested);
    }
#pragma omp barrier
#pragma omp single
    {
#pragma omp task depend(out : out[0])
      out[0] = 5;
#pragma omp task depend(inout : out[0])
      {
        MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
        MPI_Win_flush(1 - rank, win);
      }
#pragma omp task depend(inout : out[0])
      out[0] = 6;
#pragma omp taskwait
#pragma omp taskloop
      for (int i = 0; i < 4; i++) out[i] = i;
      MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
      MPI_Win_flush(1 - rank, win);
#pragma omp task if (0)
      out[3] = 4;
#pragma omp taskgroup
      {
#pragma omp task untied
        {
          MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
          MPI_Win_flush(1 - rank, win);
#pragma omp taskyield
        }
      }
      out[1] = 8;
#pragma omp task
      {
        int local[4] = {1, 2, 3, 4};
        MPI_Put(local, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
        MPI_Win_flush(1 - rank, win);
      }
#pragma omp taskwait
#pragma omp task
      {
        int local[4] = {4, 3, 2, 1};
        MPI_Put(local, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
        MPI_Win_flush(1 - rank, win);
      }
    }
#pragma omp parallel num_threads(2)
    {
#pragma omp critical(name)
      {
        out[2] = me;
        MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
        MPI_Win_flush(1 - rank, win);
      }
    }
  }
  omp_destroy_nest_lock(&nested);
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
