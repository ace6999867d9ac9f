// All threads of a team enter a collective on one communicator; or each on its own.
#include <mpi.h>
#include <omp.h>

#define THREADS 4
static MPI_Comm own[THREADS];
static double mine[THREADS], sum[THREADS];

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
#pragma omp parallel num_threads(THREADS)
  {
    int me = omp_get_thread_num();
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Allreduce(&mine[me], &sum[me], 1, MPI_DOUBLE, MPI_SUM, comm); //~ CS-THR-04 access
  }
  MPI_Finalize();
  return 0;
}
