/* Who is called is in a variable, and is one function only. */
#include <mpi.h>

static int in, out = 1;

static void exchange(void) {
  int other;
  MPI_Comm_rank(MPI_COMM_WORLD, &other);
  MPI_Sendrecv(&out, 1, MPI_INT, 1 - other, 0, &in, 1, MPI_INT, 1 - other, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void (*step)(void) = exchange;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#pragma omp parallel
  {
#pragma omp master
    step();
  }
  MPI_Finalize();
  return 0;
}
