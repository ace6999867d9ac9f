// The threads of a parallel region go on reading although only the master posted a receive.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int in[64], out[64];
  int sum = 0;
  out[63] = 1;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
    MPI_Request request;
#pragma omp master
    {
      MPI_Irecv(in, 64, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
      MPI_Send(out, 64, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    }
#pragma omp barrier
    sum += in[63]; //~ CS-BUF-02 access
#pragma omp barrier
#pragma omp master
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  printf("%s\n", sum == 2 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
