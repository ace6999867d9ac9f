// An iteration fills what another one sends. One thread executes both, by chance of
// schedule(runtime).
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
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
  omp_set_schedule(omp_sched_dynamic, 1);
#pragma omp parallel for schedule(runtime) num_threads(2)
  for (int i = 0; i < 3; i++) {
    if (i == 0) stay_here();
    if (i == 1) out[1] = 7; //~ CS-BUF-01 access
    if (i == 2) {
      MPI_Sendrecv(out, 4, MPI_INT, 1 - rank, 0, in, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-BUF-01 operation
      all_is_over();
    }
  }
  printf("%d\n", in[1]);
  MPI_Finalize();
  return in[1] == 7 ? 0 : 1;
}
