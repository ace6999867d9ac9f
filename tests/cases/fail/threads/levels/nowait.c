// Time alone keeps the calls of two threads apart.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
  int provided, rank, a = 0, b = 0, mine;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  mine = rank + 1;
  #pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      MPI_Sendrecv(&mine, 1, MPI_INT, rank, 1, &a, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-THR-02 operation
    }
    /* no barrier */
    if (omp_get_thread_num() == 1) {
      double begin = MPI_Wtime();
      while (MPI_Wtime() < begin + 0.2) continue;
      MPI_Sendrecv(&mine, 1, MPI_INT, rank, 2, &b, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-THR-02 access
    }
  }
  MPI_Finalize();
  return a == mine && b == mine ? 0 : 1;
}
