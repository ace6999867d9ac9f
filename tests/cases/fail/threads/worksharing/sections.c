// One section receives, another one reads what came. One thread takes both.
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
  int provided, rank, seen = 0;
  static int in[4], out[4] = {7, 7, 7, 7};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request send;
  MPI_Isend(out, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &send);
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    stay_here();
#pragma omp section
    usleep(10);
#pragma omp section
    {
      MPI_Request receive;
      MPI_Irecv(in, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &receive); //~ CS-BUF-02 operation
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
    }
#pragma omp section
    {
      seen = in[1]; //~ CS-BUF-02 access
      all_is_over();
    }
  }
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  printf("%d\n", seen);
  MPI_Finalize();
  return seen == 7 ? 0 : 1;
}
