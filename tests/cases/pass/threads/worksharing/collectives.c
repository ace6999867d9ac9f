// Each section has a communicator of its own.
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
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm own;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    stay_here();
#pragma omp section
    usleep(10);
#pragma omp section
    MPI_Barrier(MPI_COMM_WORLD);
#pragma omp section
    {
      MPI_Barrier(own);
      all_is_over();
    }
  }
  MPI_Comm_free(&own);
  MPI_Finalize();
  return 0;
}
