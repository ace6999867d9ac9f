// Threads compute on window memory, and the master synchronises it, in one region for all steps.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>

enum { N = 60, STEPS = 12 };

int main(int argc, char **argv) {
  int provided, rank, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int peer = 1 - rank;

  int *window, out[N];
  MPI_Win win;
  MPI_Win_allocate(N * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  for (int i = 0; i < N; i++) window[i] = rank;

  MPI_Win_fence(0, win);
#pragma omp parallel num_threads(3) reduction(+ : wrong)
  for (int step = 0; step < STEPS; step++) {
#pragma omp for
    for (int i = 0; i < N; i++) out[i] = step * N + i;
#pragma omp single
    {
      MPI_Win_fence(0, win);
      MPI_Put(out, N, MPI_INT, peer, 0, N, MPI_INT, win);
      MPI_Win_fence(0, win);
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < N; i++) {
      wrong += window[i] != step * N + i;
      window[i] = -1;
    }
#pragma omp for
    for (int i = 0; i < N; i++) {
#pragma omp task firstprivate(i)
      out[i] = 0;
    }
  }
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong;
}
