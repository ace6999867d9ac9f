// Threads read window memory while the other rank is putting into it.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <stdio.h>

enum { N = 100 };

int main(int argc, char **argv) {
  int provided, rank, sum = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[N], out[N];
  for (int i = 0; i < N; i++) out[i] = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  MPI_Put(out, N, MPI_INT, 1 - rank, 0, N, MPI_INT, win); //~ CS-RMA-03 operation
#pragma omp parallel for num_threads(3) reduction(+ : sum)
  for (int i = 0; i < N; i++) {
    sum += window[i]; //~ CS-RMA-03 access
  }
  MPI_Win_fence(0, win);

  printf("%d\n", sum);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
