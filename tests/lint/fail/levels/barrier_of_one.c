/* A function that waits for the team is called by the thread with one number only. */
#include <mpi.h>
#include <omp.h>

static int mine, sum;

static void meet(void) {
#pragma omp barrier //~ CS-OMP-01 access
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0) { //~ CS-OMP-01 cause
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      meet();
    }
  }
  MPI_Finalize();
  return 0;
}
