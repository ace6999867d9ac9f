/* A function that waits for the team is called by all threads, after the call of the one. */
#include <mpi.h>
#include <omp.h>

static int mine, sum;

static void meet(void) {
#pragma omp barrier
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0) {
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    meet();
  }
  MPI_Finalize();
  return 0;
}
