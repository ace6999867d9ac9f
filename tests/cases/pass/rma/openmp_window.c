// Threads read window memory when the master thread has passed the fence.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>

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
  MPI_Put(out, N, MPI_INT, 1 - rank, 0, N, MPI_INT, win);
  MPI_Win_fence(0, win);
#pragma omp parallel for num_threads(3) reduction(+ : sum)
  for (int i = 0; i < N; i++) {
    sum += window[i];
  }

  MPI_Win_free(&win);
  MPI_Finalize();
  return sum == 7 * N ? 0 : 1;
}
