// A critical section for all calls of MPI.
//# flags: -fopenmp
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int over;

static void stay_here(void) {
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) usleep(10);
}

static void all_is_over(void) { __atomic_store_n(&over, 1, __ATOMIC_RELAXED); }

int main(int argc, char **argv) {
  int provided, rank, in[2];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  if (provided != MPI_THREAD_SERIALIZED) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel for schedule(monotonic : dynamic) num_threads(2)
  for (int i = 0; i < 3; i++) {
    if (i == 0) stay_here();
    if (i == 1) {
#pragma omp critical
      MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, &in[0], 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (i == 2) {
#pragma omp critical
      MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 1, &in[1], 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      all_is_over();
    }
  }
  MPI_Finalize();
  return in[0] == 1 - rank && in[1] == 1 - rank ? 0 : 1;
}
