// A task of a loop fills what another one sends, whichever comes first.
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
  int provided, rank;
  static int in[4], out[4];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < 2; i++) {
    if (i == 0) out[1] = 7; //~ CS-BUF-01 access
    if (i == 1) MPI_Sendrecv(out, 4, MPI_INT, 1 - rank, 0, in, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-BUF-01 operation
  }
  printf("%d\n", in[1]);
  MPI_Finalize();
  return 0;
}
