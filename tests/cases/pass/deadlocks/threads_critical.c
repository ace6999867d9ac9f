// A thread of each rank is long in a critical section, which another thread must enter to send the
// message that the other rank waits for.
//# np: 2
//# cc: gcc
//# flags: -fopenmp
//# options: --stuck-after 1
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int rank, provided, is_in = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(3)
  {
    int value = rank, seen = 0;
    if (omp_get_thread_num() == 0) {
#pragma omp critical
      {
#pragma omp atomic write
        is_in = 1;
        sleep(3);
      }
    } else if (omp_get_thread_num() == 1) {
      while (!seen) {
#pragma omp atomic read
        seen = is_in;
      }
#pragma omp critical
      MPI_Send(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Finalize();
  return 0;
}
