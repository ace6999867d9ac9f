// The iteration that receives reads what it has received.
//# flags: -fopenmp
#include <stdlib.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int over;

static void stay_here(void) {
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) usleep(10);
}

static void all_is_over(void) { __atomic_store_n(&over, 1, __ATOMIC_RELAXED); }

int main(int argc, char **argv) {
  int provided, rank, seen = 0, local[4] = {0};
  static const int out[4] = {7, 7, 7, 7};
  int *block = calloc(4, sizeof *block);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel for schedule(monotonic : dynamic) num_threads(2) reduction(+ : seen)
  for (int i = 0; i < 3; i++) {
    if (i == 0) stay_here();
    if (i == 1) {
      MPI_Sendrecv(out, 4, MPI_INT, 1 - rank, 0, local, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Sendrecv(out, 4, MPI_INT, 1 - rank, 1, block, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      seen += local[1];
      seen += block[1];
    }
    if (i == 2) {
      all_is_over();
    }
  }
  printf("%d\n", seen);
  MPI_Finalize();
  free(block);
  return seen == 14 ? 0 : 1;
}
