// Tasks whose dependences, groups and loops do not order a put and a write.
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
      MPI_Put(out[0], 4, MPI_INT, 1 - rank, 4 * 0, 4, MPI_INT, win); //~ CS-RMA-01 operation
      MPI_Win_flush(1 - rank, win);
    }
#pragma omp task depend(in : b)
    out[0][1] = 8; //~ CS-RMA-01 access
#pragma omp taskwait

#pragma omp task depend(in : a)
    {
      MPI_Put(out[1], 4, MPI_INT, 1 - rank, 4 * 1, 4, MPI_INT, win); //~ CS-RMA-01 operation
      MPI_Win_flush(1 - rank, win);
    }
#pragma omp task depend(in : a)
    out[1][1] = 8; //~ CS-RMA-01 access
#pragma omp taskwait

#pragma omp task depend(out : x[0])
    {
      MPI_Put(out[2], 4, MPI_INT, 1 - rank, 4 * 2, 4, MPI_INT, win); //~ CS-RMA-01 operation
      MPI_Win_flush(1 - rank, win);
    }
#pragma omp task depend(out : x[1])
    out[2][1] = 8; //~ CS-RMA-01 access
#pragma omp taskwait

#pragma omp task depend(out : a)
    {
      MPI_Put(out[3], 4, MPI_INT, 1 - rank, 4 * 3, 4, MPI_INT, win); //~ CS-RMA-01 operation
      MPI_Win_flush(1 - rank, win);
    }
#pragma omp task depend(out : b)
    x[0]++;
#pragma omp taskwait depend(in : b)
    out[3][1] = 8; //~ CS-RMA-01 access
#pragma omp taskwait

#pragma omp task
    {
      MPI_Put(out[4], 4, MPI_INT, 1 - rank, 4 * 4, 4, MPI_INT, win); //~ CS-RMA-01 operation
      MPI_Win_flush(1 - rank, win);
    }
#pragma omp taskgroup
    {
#pragma omp task
      x[0]++;
    }
    out[4][1] = 8; //~ CS-RMA-01 access
#pragma omp taskwait

#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 2; i++) {
      if (i == 0) {
        MPI_Put(out[5], 4, MPI_INT, 1 - rank, 4 * 5, 4, MPI_INT, win); //~ CS-RMA-01 operation
        MPI_Win_flush(1 - rank, win);
      } else {
        out[5][1] = 8; //~ CS-RMA-01 access
      }
    }
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong;
}
