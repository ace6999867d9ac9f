// Tasks whose dependences, groups and loops order each put and write.
//# flags: -fopenmp -Wl,-rpath,/usr/lib/llvm-19/lib
#include <mpi.h>
#include <omp.h>

static int window[24], out[6][4], a, b, x[2];

int main(int argc, char **argv) {
  int provided, rank, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 24; i++) out[i / 4][i % 4] = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);

#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : a)
    {
      MPI_Put(out[0], 4, MPI_INT, 1 - rank, 4 * 0, 4, MPI_INT, win);
      MPI_Win_flush(1 - rank, win);
    }
#pragma omp task depend(in : a)
    out[0][1] = 8;
#pragma omp taskwait

#pragma omp task depend(inout : a)
    {
      MPI_Put(out[1], 4, MPI_INT, 1 - rank, 4 * 1, 4, MPI_INT, win);
      MPI_Win_flush(1 - rank, win);
    }
#pragma omp task depend(in : a)
    out[1][1] = 8;
#pragma omp taskwait

#pragma omp task depend(out : x[0])
    {
      MPI_Put(out[2], 4, MPI_INT, 1 - rank, 4 * 2, 4, MPI_INT, win);
      MPI_Win_flush(1 - rank, win);
    }
#pragma omp task depend(out : x[0], x[1])
    out[2][1] = 8;
#pragma omp taskwait

#pragma omp task depend(out : a)
    {
      MPI_Put(out[3], 4, MPI_INT, 1 - rank, 4 * 3, 4, MPI_INT, win);
      MPI_Win_flush(1 - rank, win);
    }
#pragma omp task depend(out : b)
    x[0]++;
#pragma omp taskwait depend(in : a)
    out[3][1] = 8;
#pragma omp taskwait

#pragma omp taskgroup
    {
#pragma omp task
      {
#pragma omp task
        {
          MPI_Put(out[4], 4, MPI_INT, 1 - rank, 4 * 4, 4, MPI_INT, win);
          MPI_Win_flush(1 - rank, win);
        }
      }
    }
    out[4][1] = 8;
#pragma omp taskwait

#pragma omp taskloop grainsize(1) nogroup
    for (int i = 0; i < 2; i++) {
      if (i == 0) {
        MPI_Put(out[5], 4, MPI_INT, 1 - rank, 4 * 5, 4, MPI_INT, win);
        MPI_Win_flush(1 - rank, win);
      } else {
        x[1] = 8;
      }
    }
#pragma omp taskwait
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 2; i++) out[5][i] = 8;
#pragma omp task final(1)
    {
#pragma omp task
      {
        MPI_Put(out[5], 4, MPI_INT, 1 - rank, 4 * 5, 4, MPI_INT, win);
        MPI_Win_flush(1 - rank, win);
      }
      out[5][1] = 9;
    }
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 20; i++) wrong += window[i] != 7;
  wrong += window[21] != 8;
  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong;
}
